import { openSdkCaller } from '../trial/sdk-caller.ts';
import type { Deploy } from './check.ts';
import { CLOSING, ComposeNetwork } from './compose-network.ts';
import { expect, expectSoon } from './expect.ts';
import { dashboardQueries } from './prometheus-queries.ts';

const SCRAPED_MS = 30_000;

interface Answer {
  readonly result: readonly { readonly value: readonly [number, string] }[];
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
}

/** A client of each era through the balancer, each on a gateway of its own; one Redis; both gateways scraped, all rules loaded. */
export async function networkServes(deploy: Deploy): Promise<string> {
  const network = await ComposeNetwork.of(deploy);
  const seconds = await network.up();
  const token = await network.token('ada', 'admin');
  const port = await network.port(8080);
  const callers = [await openSdkCaller(port, token, 'handshake'), await openSdkCaller(port, token, 'modern')];
  for (const caller of callers) {
    const end = await caller.call('demo__echo', { text: 'hello' });
    expect(end.kind === 'text' && end.text === 'hello', `a client got ${JSON.stringify(end)}`);
  }
  for (const gateway of network.gateways) {
    expect((await network.metric(gateway, 'connections')) === 1, `${gateway.name} does not have one of two clients`);
    expect((await network.metric(gateway, 'bus_up')) === 1, `${gateway.name} does not reach Redis`);
    await judgeFiles((...command) => gateway.run(...command));
  }
  for (const caller of callers) await caller.close();
  await judgeRefusals(port);
  const shown = await judgePrometheus(network, deploy.root);
  return `up again in ${seconds.toFixed(1)} s; ${shown}; without Grafana, which has no program here`;
}

async function judgeFiles(run: (...command: string[]) => Promise<string>): Promise<void> {
  const listed = await run('ls', '-ln', '/run/secrets/gateway');
  const files = listed.split('\n').filter((line) => line.startsWith('-'));
  expect(files.length === 4, `a gateway has these secrets:\n${listed}`);
  for (const line of files) expect(/^-r-------- \d+ 1000 1000 /.test(line), `a secret may be read by others: ${line}`);
}

async function judgeRefusals(port: number): Promise<void> {
  const headers = { authorization: 'Bearer nonsense' };
  const { status } = await fetch(`http://127.0.0.1:${port}/mcp/tickets`, { method: 'POST', headers });
  expect(status === 401, `a bad token gets ${status}`);
}

/** Says how much of the dashboard has something to show: the few calls of this check do not make everything happen. */
async function judgePrometheus(network: ComposeNetwork, root: string): Promise<string> {
  const url = `http://127.0.0.1:${await network.port(9090)}/api/v1`;
  const ask = async <T>(path: string): Promise<T> => {
    const text = await (await fetch(`${url}/${path}`, CLOSING)).text();
    const { data, error }: { data?: T; error?: string } = JSON.parse(text);
    expect(data !== undefined, `Prometheus answers ${path} with ${error}`);
    return data;
  };
  const up = async () => (await ask<Answer>('query?query=sum(up)')).result[0]?.value[1];
  await expectSoon(
    async () => (await up()) === '2',
    SCRAPED_MS,
    () => 'Prometheus does not scrape both gateways',
  );
  const rules = (await ask<Rules>('rules')).groups.flatMap((group) => group.rules);
  const bad = rules.filter(({ health }) => health === 'err').map(({ name }) => name);
  expect(rules.length > 0 && bad.length === 0, `${rules.length} rules, with errors: ${bad.join(', ')}`);
  const queries = dashboardQueries(root).map(({ expression }) => `query?${new URLSearchParams({ query: expression })}`);
  const filled = async () => {
    const answers = await Promise.all(queries.map((query) => ask<Answer>(query)));
    return answers.filter(({ result }) => result.length > 0).length;
  };
  let last = 0;
  const mostAre = async () => {
    last = await filled();
    return last > queries.length / 2;
  };
  await expectSoon(mostAre, SCRAPED_MS, () => `${last} of ${queries.length} queries of the dashboard have series`);
  return `${last} of ${queries.length} queries of the dashboard have series`;
}
