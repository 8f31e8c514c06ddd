import { Server } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { hearModern } from '../support/heard-modern.ts';
import { modernRequest } from '../support/modern-request.ts';
import { openSdk2Http } from '../support/sdk2-http.ts';

/** The requests a server object saw cancelled. */
const cancelled: string[] = [];

function createServer(): Server {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
  const server = new Server({ name: 'modern', version: '1' }, { capabilities });
  server.setRequestHandler('tools/list', () => ({ tools: [] }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (params.name === 'wait') {
      const gone = new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => resolve()));
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
      await gone;
      cancelled.push(params.name);
    }
    if (params.name === 'steps') {
      for (const progress of [1, 2])
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 1, progress } });
    }
    return { content: [{ type: 'text', text: `did ${params.name}` }] };
  });
  return server;
}

async function open() {
  const upstream = await openSdk2Http(createServer);
  const heard = await hearModern(upstream.url, { headers: { Authorization: 'Bearer upstream-secret' } });
  onTestFinished(async () => {
    await heard.channel.close();
    await upstream.close();
  });
  const ask = (...request: Parameters<typeof modernRequest>) => heard.channel.send(...modernRequest(...request));
  const messages = () => heard.messages.map((text) => JSON.parse(text));
  return { upstream, heard, ask, messages };
}

test('discover is answered without a session', async () => {
  const { ask, messages, upstream, heard } = await open();
  ask(1, 'server/discover');
  await expect.poll(messages).toMatchObject([{ id: 1, result: { supportedVersions: ['2026-07-28'] } }]);
  expect(upstream.seen.map(({ method }) => method)).toEqual(['POST']);
  await heard.channel.close();
  expect(heard.order.at(-1)).toBe('closed');
  expect(upstream.seen).toHaveLength(1);
});

test('the progress of a call comes before its answer, in order', async () => {
  const { ask, messages } = await open();
  ask(7, 'tools/call', { name: 'steps' }, { progressToken: 1 });
  await expect.poll(messages).toMatchObject([
    { method: 'notifications/progress', params: { progress: 1 } },
    { method: 'notifications/progress', params: { progress: 2 } },
    { id: 7, result: { content: [{ type: 'text', text: 'did steps' }] } },
  ]);
});

test.each([
  ['tools/call', { name: 'steps' }, 'steps'],
  ['tools/call', { name: 'grüße' }, '=?base64?Z3LDvMOfZQ==?='],
  ['tools/call', { name: ' a\r\nx-evil: 1' }, '=?base64?IGENCngtZXZpbDogMQ==?='],
  ['tools/call', { name: '' }, '=?base64??='],
  ['tools/call', { name: '=?base64?YQ==?=' }, '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
  ['resources/read', { uri: 'file:///a b?c=%20' }, 'file:///a b?c=%20'],
])('the headers of %s with %j', async (method, params, name) => {
  const { ask, heard, upstream } = await open();
  ask(1, method, params);
  await expect.poll(() => heard.messages.length).toBeGreaterThan(0);
  const { host, 'content-length': length, ...headers } = upstream.seen[0]?.headers ?? {};
  expect(headers).toEqual({
    connection: 'keep-alive',
    'user-agent': 'mcp-ws-gateway',
    authorization: 'Bearer upstream-secret',
    'accept-encoding': 'identity',
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': name,
  });
  expect(heard.messages.join()).not.toContain('-32020');
});

test('a request about nothing by name has no Mcp-Name', async () => {
  const { ask, messages, upstream } = await open();
  ask(1, 'tools/list');
  await expect.poll(messages).toMatchObject([{ id: 1, result: { tools: [] } }]);
  expect(upstream.seen[0]?.headers['mcp-method']).toBe('tools/list');
  expect(upstream.seen[0]?.headers).not.toHaveProperty('mcp-name');
});

test('a forgotten request is cancelled at the server by its stream alone; later calls go on', async () => {
  const { ask, messages, heard, upstream } = await open();
  cancelled.length = 0;
  ask(1, 'tools/call', { name: 'wait' }, { progressToken: 1 });
  await expect.poll(messages).toMatchObject([{ method: 'notifications/progress' }]);
  expect(heard.channel.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')).toBe(
    true,
  );
  heard.channel.forget?.(1);
  await expect.poll(() => cancelled).toEqual(['wait']);
  ask(2, 'tools/call', { name: 'steps' });
  await expect.poll(messages).toContainEqual(expect.objectContaining({ id: 2 }));
  expect(upstream.seen.map(({ headers }) => headers['mcp-method'])).toEqual(['tools/call', 'tools/call']);
  expect(messages()).not.toContainEqual(expect.objectContaining({ id: 1 }));
  expect([heard.failures, heard.closed, heard.lines]).toEqual([[], [], []]);
});

test('closing cancels what is under way and tells the owner once', async () => {
  const { ask, messages, heard } = await open();
  cancelled.length = 0;
  ask(1, 'tools/call', { name: 'wait' }, { progressToken: 1 });
  await expect.poll(messages).toHaveLength(1);
  await Promise.all([heard.channel.close(), heard.channel.close()]);
  await expect.poll(() => cancelled).toEqual(['wait']);
  expect(heard.order.slice(1)).toEqual(['closed']);
  expect(heard.channel.send(...modernRequest(2, 'tools/list'))).toBe(false);
});

test('a subscription is acknowledged, told of changes, and ended by its result', async () => {
  const { ask, messages, heard, upstream } = await open();
  ask(5, 'subscriptions/listen', { notifications: { toolsListChanged: true, resourceSubscriptions: ['file:///a'] } });
  await expect.poll(messages).toMatchObject([{ method: 'notifications/subscriptions/acknowledged' }]);
  upstream.notify.toolsChanged();
  upstream.notify.resourceUpdated('file:///a');
  await expect.poll(messages).toHaveLength(3);
  await upstream.closeHandler();
  const _meta = { 'io.modelcontextprotocol/subscriptionId': 5 };
  await expect
    .poll(messages)
    .toMatchObject([
      {},
      { method: 'notifications/tools/list_changed', params: { _meta } },
      { method: 'notifications/resources/updated', params: { uri: 'file:///a', _meta } },
      { id: 5, result: { _meta } },
    ]);
  expect(heard.failures).toEqual([]);
});

test('a subscription whose stream is cut fails', async () => {
  const { ask, messages, heard, upstream } = await open();
  ask(5, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  await expect.poll(messages).toHaveLength(1);
  await upstream.close();
  await expect.poll(() => heard.failures).toMatchObject([{ id: 5, reason: 'upstream_closed' }]);
  expect(heard.closed).toEqual([]);
});

test.each([
  ['400', { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }, 'tools/list', -32020],
  ['400', { 'io.modelcontextprotocol/clientCapabilities': 'none' }, 'tools/list', -32602],
  ['404', {}, 'vendor/unknown', -32601],
])('the error in the body of a %s is the answer: %j %s', async (_status, meta, method, code) => {
  const { ask, messages, heard } = await open();
  ask(3, method, {}, meta);
  await expect.poll(messages).toMatchObject([{ id: 3, error: { code } }]);
  expect(heard.failures).toEqual([]);
});
