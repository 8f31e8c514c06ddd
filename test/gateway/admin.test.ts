import { expect, test } from 'vitest';
import { startAdminGateway } from '../support/admin-gateway.ts';
import { toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';
import { type Script, scriptedUpstream } from '../support/scripted-upstream.ts';

const BOOK = 'lib://books/1';
const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const UPDATED = '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"lib://books/1"}}';

/** An upstream with one book and one tool after another, which never tells of either. */
async function silentUpstream() {
  const tools = ['first'];
  const lists = { tools: 0, prompts: 0, resources: 0 };
  const script: Script = {
    'tools/list': ({ result }) => {
      lists.tools += 1;
      result({ tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) });
    },
    'prompts/list': ({ result }) => {
      lists.prompts += 1;
      result({ prompts: [] });
    },
    'resources/list': ({ result }) => {
      lists.resources += 1;
      result({ resources: [{ uri: BOOK, name: 'a book' }] });
    },
    'resources/subscribe': ({ result }) => result({}),
    'tools/call': ({ result, params }) => result({ content: [{ type: 'text', text: String(params.name) }] }),
  };
  const { entry } = await scriptedUpstream(script, { isolation: 'shared' });
  return { entry, lists, add: (name: string) => void tools.push(name) };
}

async function names(client: RawClient): Promise<unknown> {
  return client.ask({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
}

async function subscribed(url: string): Promise<RawClient> {
  const client = await openRaw(url);
  const params = { uri: BOOK };
  const answer = await client.ask({ jsonrpc: '2.0', id: 's', method: 'resources/subscribe', params });
  expect(answer).toEqual({ jsonrpc: '2.0', id: 's', result: {} });
  return client;
}

const published = (n: number) => ({ status: 202, challenge: undefined, connection: 'close', body: { published: n } });

test('tools that changed at an upstream that never tells are listed anew, and clients are told once', async () => {
  const up = await silentUpstream();
  const gateway = await startAdminGateway({ mcpServers: { up: up.entry } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  await names(client);
  up.add('second');
  expect(await gateway.tell({ kind: 'tools', upstream: 'up' })).toEqual(published(1));
  expect(await client.next()).toBe(CHANGED);
  expect(await client.barrier()).toEqual([]);
  expect(await names(client)).toMatchObject({ result: { tools: [{ name: 'up__first' }, { name: 'up__second' }] } });
  expect(await client.ask(toolCall(1, 'up__second'))).toMatchObject({ result: { content: [{ text: 'second' }] } });
});

test('a list that did not change in fact is listed anew, and nobody is told', async () => {
  const up = await silentUpstream();
  const gateway = await startAdminGateway({ mcpServers: { up: up.entry } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  await names(client);
  const before = up.lists.prompts;
  expect(await gateway.tell({ kind: 'prompts', upstream: 'up' })).toEqual(published(1));
  await expect.poll(() => up.lists.prompts).toBe(before + 1);
  expect(await client.barrier()).toEqual([]);
});

test('without an upstream it is of every one', async () => {
  const [one, two] = [await silentUpstream(), await silentUpstream()];
  const gateway = await startAdminGateway({ mcpServers: { one: one.entry, two: two.entry } });
  await gateway.ready();
  const before = [one.lists.resources, two.lists.resources];
  expect(await gateway.tell({ kind: 'resources' })).toEqual(published(2));
  await expect.poll(() => [one.lists.resources, two.lists.resources]).toEqual(before.map((count) => count + 1));
});

test.each([
  ['named', { upstream: 'one' }, 1],
  ['not named', {}, 2],
])('an updated resource is told once to who subscribed to it, its upstream %s', async (_how, upstream, count) => {
  const [one, two] = [await silentUpstream(), await silentUpstream()];
  const gateway = await startAdminGateway({ mcpServers: { one: one.entry, two: two.entry } });
  await gateway.ready();
  const [client, other] = [await subscribed(gateway.url), await openRaw(gateway.url)];
  expect(await gateway.tell({ kind: 'updated', uri: BOOK, ...upstream })).toEqual(published(count));
  expect(await client.next()).toBe(UPDATED);
  expect([await client.barrier(), await other.barrier()]).toEqual([[], []]);
});

test('an updated resource of an upstream that does not own it is told to nobody', async () => {
  const [one, two] = [await silentUpstream(), await silentUpstream()];
  const gateway = await startAdminGateway({ mcpServers: { one: one.entry, two: two.entry } });
  await gateway.ready();
  const client = await subscribed(gateway.url);
  expect(await gateway.tell({ kind: 'updated', uri: BOOK, upstream: 'two' })).toEqual(published(1));
  expect(await gateway.tell({ kind: 'updated', uri: 'lib://books/2' })).toEqual(published(2));
  expect(await gateway.tell({ kind: 'updated', uri: BOOK, upstream: 'one' })).toEqual(published(1));
  expect(await client.next()).toBe(UPDATED);
  expect(await client.barrier()).toEqual([]);
});

test('what was published is counted, and logged without the URI', async () => {
  const up = await silentUpstream();
  const gateway = await startAdminGateway({ mcpServers: { up: up.entry } });
  await gateway.tell({ kind: 'updated', upstream: 'up', uri: 'lib://books/1?key=canary' });
  await gateway.tell({ kind: 'tools' });
  const counted = parseMetrics(await gateway.metrics());
  expect(sampleValue(counted, 'mcp_gateway_admin_requests_total', { outcome: 'published' })).toBe(2);
  const request = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(gateway.log.filter(({ event }) => event === 'change_published').map(({ fields }) => fields)).toEqual([
    { request, address: '127.0.0.1', kind: 'updated', upstream: 'up', published: 1 },
    { request, address: '127.0.0.1', kind: 'tools', published: 1 },
  ]);
  expect(JSON.stringify(gateway.log)).not.toContain('canary');
});

test('ends with the gateway', async () => {
  const gateway = await startAdminGateway();
  expect(await gateway.tell({ kind: 'tools' })).toEqual(published(0));
  await gateway.close();
  await expect(gateway.tell({ kind: 'tools' })).rejects.toThrow('ECONNREFUSED');
});
