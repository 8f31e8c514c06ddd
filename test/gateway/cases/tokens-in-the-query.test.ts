import { expect, test } from 'vitest';
import { type Ran, startCli } from '../../support/cli.ts';
import { fileWith } from '../../support/config-fixtures.ts';
import { freePort } from '../../support/free-port.ts';
import { APP, askTicket, issuer, ticketOf } from '../../support/ticketed-gateway.ts';
import { upgrade } from '../../support/upgrade-request.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const INVALID = 'canary.of-no-issuer.at_all';
const UNKNOWN = 'canaryTicket'.padEnd(43, 'x');

interface Serving {
  readonly url: string;
  stop(): Promise<Ran>;
}

/** A gateway in a process of its own that says where it listens at no level. */
async function serve(level: string): Promise<Serving> {
  const [port, ops] = [await freePort(), await freePort()];
  const keys = `{ secret: "${issuer.secret}" }`;
  const file = fileWith(
    'gateway.yaml',
    `listen: { port: ${port} }
ops: { port: ${ops} }
log: { level: ${level} }
auth: { mode: jwt, resource: "${issuer.audience}", issuers: [{ issuer: "${issuer.issuer}", keys: ${keys} }] }
origins: ["${APP}"]
policy: allow-authenticated
`,
  );
  const { pid, ended } = startCli(['serve', '--config', file]);
  await expect.poll(() => isServing(ops), { timeout: 60_000 }).toBe(true);
  const stop = () => {
    process.kill(pid, 'SIGTERM');
    return ended;
  };
  return { url: `ws://127.0.0.1:${port}/mcp`, stop };
}

async function isServing(ops: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${ops}/healthz`).catch(() => undefined);
  return answer?.status === 200;
}

/** The status of an upgrade, once the gateway judges it: a process that shares a busy machine may say that it is overloaded. */
async function statusOf(url: string, path: string): Promise<number> {
  const { status } = await upgrade(url, { path });
  return status === 503 ? statusOf(url, path) : status;
}

async function firstTicket(serving: Serving, token: string): Promise<string> {
  const answer = await askTicket(serving, { token });
  return answer.status === 503 ? firstTicket(serving, token) : ticketOf(serving, { token });
}

/** Every way a token or ticket gets into a query, by clients and by pages. Returns the statuses of the first of each, as a client. */
async function connectWith({ url }: Serving, secrets: Secrets): Promise<number[]> {
  const { valid, expired, ticket } = secrets;
  const named = ['token', '%74oken', 'ticket', 'other'];
  const queries = named.flatMap((name) => [valid, expired, INVALID, UNKNOWN].map((secret) => `?${name}=${secret}`));
  const paths = ['/mcp', '/mcp/tickets', '/elsewhere', '/mcp%zz'];
  const page = { origin: APP, 'sec-websocket-protocol': 'mcp' };
  const plain = { upgrade: undefined, connection: 'close' };
  for (const query of [...queries, `?ticket=${valid}&ticket=${ticket}`]) {
    await Promise.all([
      ...paths.map((path) => upgrade(url, { path: `${path}${query}` })),
      ...[page, plain].map((headers) => upgrade(url, { path: `/mcp${query}`, headers })),
      askTicket({ url }, { query, token: valid, origin: APP }),
    ]);
  }
  const told = [`?token=${valid}`, `?token=${expired}`, `?ticket=${ticket}`, `?ticket=${ticket}`, `?ticket=${UNKNOWN}`];
  const statuses: number[] = [];
  for (const query of told) statuses.push(await statusOf(url, `/mcp${query}`));
  return statuses;
}

interface Secrets {
  readonly valid: string;
  readonly expired: string;
  readonly ticket: string;
}

async function runAt(level: string): Promise<Ran> {
  const serving = await serve(level);
  const valid = await issuer.sign();
  const expired = await issuer.sign({ exp: Math.floor(Date.now() / 1000) - 600 });
  const secrets = { valid, expired, ticket: await firstTicket(serving, valid) };
  expect(await connectWith(serving, secrets)).toEqual([400, 400, 101, 401, 401]);
  const ran = await serving.stop();
  for (const secret of [...Object.values(secrets), INVALID, UNKNOWN]) {
    expect(ran.stdout).not.toContain(secret);
    expect(ran.stderr).not.toContain(secret);
  }
  return ran;
}

test('a token or ticket in the query is written nowhere, at no log level: valid, invalid or expired', async () => {
  const ran: Ran[] = [];
  for (const level of LEVELS) ran.push(await runAt(level));
  expect(ran.map(({ code }) => code)).toEqual(LEVELS.map(() => 0));
  // What could have held one was written where the level lets it.
  const told = ran.map(({ stderr }) => ['upgrade_refused', 'ticket_refused'].every((event) => stderr.includes(event)));
  expect(told).toEqual([true, true, true, false, false, false, false]);
}, 120_000);
