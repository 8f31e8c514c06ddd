import { describe, expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { httpLibrary, type OpenLibrary, stdioLibrary } from '../support/library.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';
import { makeIssuer } from '../support/tokens.ts';

const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';

async function names(client: RawClient): Promise<string[]> {
  const answer = await client.ask({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
  return (answer as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
}

const ways: [string, OpenLibrary][] = [
  ['stdio', stdioLibrary],
  ['Streamable HTTP', httpLibrary],
];

describe.each(ways)('a shared upstream over %s', (_way, openLibrary) => {
  test('that adds a tool is told of once in each of three sessions, whose next list has it', async () => {
    const library = await openLibrary({ isolation: 'shared' });
    const gateway = await startGateway({ mcpServers: { up: library.entry } });
    await gateway.ready();
    await library.hears(1);
    const clients = [await openRaw(gateway.url), await openRaw(gateway.url), await openRaw(gateway.url)];
    for (const client of clients) expect(await names(client)).not.toContain('up__added1');
    const [caller] = clients;
    expect(await caller?.ask(toolCall(1, 'up__add'))).toEqual(textAnswer(1, 'added'));
    for (const client of clients) expect(await client.next()).toBe(CHANGED);
    for (const client of clients) {
      expect(await client.barrier()).toEqual([]);
      expect(await names(client)).toContain('up__added1');
      expect(await client.ask(toolCall(2, 'up__added1'))).toEqual(textAnswer(2, 'added1'));
    }
    const counted = parseMetrics(await gateway.metrics());
    const changes = (stage: string) =>
      sampleValue(counted, 'mcp_gateway_list_changes_total', { kind: 'tools', stage }) ?? 0;
    expect(['heard', 'changed', 'told'].map(changes)).toEqual([1, 2, 3]);
  });

  test('that says so 200 times in a burst is listed at most twice, and told of once', async () => {
    const library = await openLibrary({ isolation: 'shared' });
    const gateway = await startGateway({ mcpServers: { up: library.entry } });
    await gateway.ready();
    await library.hears(1);
    const [caller, listener] = [await openRaw(gateway.url), await openRaw(gateway.url)];
    const listed = () => library.lines().filter((line) => line === 'listed tools').length;
    const before = listed();
    caller.send(toolCall(1, 'up__burst'));
    const heardByCaller = [await caller.json(), await caller.json()];
    expect(heardByCaller).toContainEqual(textAnswer(1, 'burst'));
    expect(heardByCaller).toContainEqual(JSON.parse(CHANGED));
    expect(await listener.next()).toBe(CHANGED);
    expect(await names(listener)).toContain('up__added1');
    const heard = async () =>
      sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_list_changes_total', {
        kind: 'tools',
        stage: 'heard',
      });
    await expect.poll(heard).toBe(200);
    caller.send(toolCall(2, 'up__add'));
    expect(await listener.next()).toBe(CHANGED);
    expect(await names(listener)).toContain('up__added2');
    expect(await listener.barrier()).toEqual([]);
    expect(listed() - before).toBeLessThanOrEqual(3);
  });
});

test('only sessions whose view changed hear of it', async () => {
  const issuer = await makeIssuer();
  const { secret, audience, issuer: name } = issuer;
  const gateway = await startGateway({
    auth: { mode: 'jwt', resource: audience, issuers: [{ issuer: name, keys: { secret } }] },
    policy: [
      { roles: ['all'], allow: { tools: ['**'] } },
      { roles: ['few'], allow: { tools: ['up/add', 'other/**'] } },
    ],
    mcpServers: {
      up: stdioUpstream('fixture.mjs', [], { isolation: 'shared' }),
      other: stdioUpstream('fixture.mjs', [], { isolation: 'shared' }),
    },
  });
  await gateway.ready();
  const as = async (role: string) =>
    openRaw(gateway.url, { headers: { authorization: `Bearer ${await issuer.sign({ roles: [role] })}` } });
  const [all, few, none] = [await as('all'), await as('few'), await as('none')];
  expect(await few.ask(toolCall(1, 'up__add'))).toEqual(textAnswer(1, 'added1'));
  expect(await all.next()).toBe(CHANGED);
  expect([await all.barrier(), await few.barrier(), await none.barrier()]).toEqual([[], [], []]);
  expect(await few.ask(toolCall(2, 'other__add'))).toEqual(textAnswer(2, 'added1'));
  expect([await all.next(), await few.next()]).toEqual([CHANGED, CHANGED]);
  expect([await all.barrier(), await few.barrier(), await none.barrier()]).toEqual([[], [], []]);
});

test('a change before `initialized` is told after it, once', async () => {
  const gateway = await startGateway({
    mcpServers: { up: stdioUpstream('fixture.mjs', [], { isolation: 'shared' }) },
  });
  await gateway.ready();
  const [early, other] = [await connectRaw(gateway.url), await openRaw(gateway.url)];
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  expect(await early.ask({ jsonrpc: '2.0', id: 1, method: 'initialize', params })).toMatchObject({ id: 1, result: {} });
  for (const at of [1, 2]) {
    await other.ask(toolCall(at, 'up__add'));
    expect(await other.next()).toBe(CHANGED);
  }
  expect(await early.barrier()).toEqual([]);
  early.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expect(await early.next()).toBe(CHANGED);
  expect(await early.barrier()).toEqual([]);
  expect(await names(early)).toEqual(expect.arrayContaining(['up__added1', 'up__added2']));
});

test('a notification of a session’s own link makes it and the catalogue link be listed; only this session hears of what only its link has', async () => {
  const library = await stdioLibrary({ isolation: 'session' });
  const gateway = await startGateway({ mcpServers: { up: library.entry } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  const listed = () => library.lines().filter((line) => line === 'listed tools').length;
  const before = listed();
  expect(await client.ask(toolCall(1, 'up__add'))).toEqual(textAnswer(1, 'added'));
  expect(await client.next()).toBe('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
  await expect.poll(listed).toBe(before + 2);
  expect(await client.barrier()).toEqual([]);
});
