import { expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway } from '../support/gateway.ts';
import { toolCall } from '../support/messages.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';
import { type Asked, offering, type Script, scriptedUpstream } from '../support/scripted-upstream.ts';

const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
const TOOL = { name: 'act', inputSchema: { type: 'object' } };
/** For a machine with other work. */
const PATIENT = { timeout: 40_000 };
const LIST = { jsonrpc: '2.0', id: 'list', method: 'tools/list', params: {} };

/** The upstream under test, and a good one beside it. */
async function beside(script: Script) {
  const clock = fakeClock();
  const bad = await scriptedUpstream({ 'tools/call': ({ result }) => result({ content: [] }), ...script });
  const good = await scriptedUpstream({ ...offering('act'), 'tools/call': ({ result }) => result({ content: [] }) });
  const mcpServers = { bad: bad.entry, good: good.entry };
  const gateway = await startGateway({ limits: { pingInterval: '60m', firstMessage: '60m' }, mcpServers }, clock);
  const asked = () => bad.links.flatMap(({ heard }) => heard.filter(({ method }) => method === 'tools/list')).length;
  return { clock, gateway, asked };
}

async function names(client: RawClient): Promise<unknown> {
  const frame = await client.ask(LIST);
  return JSON.parse(JSON.stringify(frame)).result.tools.map(({ name }: { name: string }) => name);
}

/** Lets time pass until it is there. */
async function during<T>(clock: { advance(ms: number): void }, awaited: Promise<T>): Promise<T> {
  let isThere = false;
  void awaited.then(() => {
    isThere = true;
  });
  const passed = () => {
    clock.advance(1000);
    return isThere;
  };
  await expect.poll(passed, PATIENT).toBe(true);
  return awaited;
}

const serves = async (client: RawClient, id: number, name: string) =>
  expect(await client.ask(toolCall(id, name))).toEqual({ jsonrpc: '2.0', id, result: { content: [] } });

test('cursors that never end are followed for a thousand pages, others are served meanwhile, and what was read is served', async () => {
  let page = 0;
  const endless = ({ result }: Asked) => {
    page += 1;
    result({ tools: [{ ...TOOL, name: `t${page}` }], nextCursor: `after ${page}` });
  };
  const { gateway, asked } = await beside({ 'tools/list': endless });
  await expect
    .poll(() => gateway.log.some(({ event, fields }) => event === 'upstream_up' && fields.upstream === 'good'), PATIENT)
    .toBe(true);
  await expect
    .poll(() => gateway.log.filter(({ event }) => event === 'list_cut'), PATIENT)
    .toMatchObject([{ fields: { upstream: 'bad', kind: 'tools', reason: 'pages', kept: 1000 } }]);
  expect(asked()).toBe(1000);
  await gateway.ready();
  const client = await openRaw(gateway.url);
  await serves(client, 1, 'bad__t1000');
  await serves(client, 2, 'good__act');
}, 60_000);

test('a list that never comes is not waited for, hides nothing of others, and is asked for again when its time is over', async () => {
  let answers = false;
  const list = ({ result }: Asked) => {
    if (answers) result({ tools: [TOOL] });
  };
  const { clock, gateway, asked } = await beside({ 'tools/list': list });
  await expect.poll(asked).toBe(1);
  const client = await connectRaw(gateway.url);
  await during(clock, client.initialize());
  expect(await names(client)).toEqual(['good__act']);
  await serves(client, 1, 'good__act');
  clock.advance(120_000);
  await expect.poll(() => gateway.log.map(({ event }) => event)).toContain('list_failed');
  answers = true;
  expect(await during(clock, client.json())).toEqual(CHANGED);
  expect(await names(client)).toEqual(['bad__act', 'good__act']);
});

test('a change announced with every list costs no more than a handful of lists a minute', async () => {
  const { clock, gateway, asked } = await beside({
    'tools/list': ({ link, result }) => {
      link.send(CHANGED);
      result({ tools: [TOOL] });
      link.send(CHANGED);
    },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  for (let second = 1; second <= 60; second += 1) {
    clock.advance(1000);
    await serves(client, second, 'bad__act');
  }
  expect(asked()).toBeGreaterThan(2);
  expect(asked()).toBeLessThanOrEqual(12);
  expect(await client.barrier()).toEqual([]);
});

test('an upstream that lists something else each time, and says so, is walked and told of ever less often', async () => {
  let listed = 0;
  const { clock, gateway, asked } = await beside({
    'tools/list': ({ link, result }) => {
      listed += 1;
      result({ tools: [TOOL, { ...TOOL, name: `t${listed}` }] });
      link.send(CHANGED);
    },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  const told: unknown[] = [];
  for (let second = 1; second <= 60; second += 1) {
    clock.advance(1000);
    told.push(...(await client.barrier()));
  }
  expect([asked() > 10, asked() <= 30, told.length <= asked()]).toEqual([true, true, true]);
  expect(told.length).toBeGreaterThan(5);
  await serves(client, 1, 'bad__act');
  await serves(client, 2, 'good__act');
});
