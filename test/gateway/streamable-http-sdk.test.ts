import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  type EventStore,
  StreamableHTTPServerTransport,
  type StreamableHTTPServerTransportOptions,
} from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterEach, describe, expect, test } from 'vitest';
import { openHttp } from '../support/heard-channel.ts';

const closers: Array<() => void | Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** An SDK 1.x server, a transport for each session; `forget` makes it lose every session without closing anything. */
async function sdkServer(options: StreamableHTTPServerTransportOptions = {}) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const servers: McpServer[] = [];
  const ended: string[] = [];
  let calls = 0;
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void ended.push(id),
      ...options,
    });
    const server = new McpServer({ name: 'sdk', version: '1' }, { capabilities: { logging: {} } });
    server.registerTool('count', { description: 'counts calls' }, () => {
      calls += 1;
      return { content: [{ type: 'text', text: `call ${calls}` }] };
    });
    server.registerTool('progress', { description: 'progress first' }, async (extra) => {
      const progressToken = extra._meta?.progressToken ?? 'none';
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      extra.closeSSEStream?.();
      return { content: [] };
    });
    await server.connect(transport);
    servers.push(server);
    return transport;
  };
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : await open();
    if (known === undefined) response.writeHead(404).end();
    else await known.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    http.close();
    http.closeAllConnections();
  });
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, servers, ended, forget: () => sessions.clear(), calls: () => calls };
}

/** Keeps every event under a rising number; the SDK's example sorts those of one millisecond by chance. */
function eventStore(): EventStore {
  const events: Array<{ streamId: string; message: Parameters<EventStore['storeEvent']>[1] }> = [];
  return {
    storeEvent: async (streamId, message) => `${events.push({ streamId, message }) - 1}`,
    replayEventsAfter: async (lastEventId, { send }) => {
      const from = Number(lastEventId);
      const streamId = events[from]?.streamId ?? '';
      for (const [n, event] of events.entries()) {
        if (n > from && event.streamId === streamId) await send(`${n}`, event.message);
      }
      return streamId;
    },
  };
}

const call = (id: number, name: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","_meta":{"progressToken":7}}}`;

describe.each([
  ['events', {}],
  ['JSON', { enableJsonResponse: true }],
])('an SDK server that answers with %s', (_name, options) => {
  test('opens a session, lists, answers a call, and gets the session back', async () => {
    const server = await sdkServer(options);
    const heard = await openHttp(server.url);
    expect(JSON.parse(heard.messages[0] ?? '')).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
    heard.channel.send('{"jsonrpc":"2.0","id":2,"method":"tools/list"}', 2);
    await expect.poll(() => heard.messages.length).toBe(2);
    expect(JSON.parse(heard.messages[1] ?? '')).toMatchObject({ id: 2, result: { tools: [{ name: 'count' }, {}] } });
    heard.channel.send(call(3, 'count'), 3);
    await expect
      .poll(() => heard.messages.at(-1))
      .toBe('{"result":{"content":[{"type":"text","text":"call 1"}]},"jsonrpc":"2.0","id":3}');
    await heard.channel.close();
    expect(server.ended).toHaveLength(1);
    expect(heard.failures).toEqual([]);
  });

  test('tells of a changed list on its own stream', async () => {
    const server = await sdkServer(options);
    const heard = await openHttp(server.url);
    await expect
      .poll(() => {
        server.servers[0]?.sendToolListChanged();
        return heard.messages.at(-1);
      })
      .toBe('{"method":"notifications/tools/list_changed","jsonrpc":"2.0"}');
    await heard.channel.close();
  });

  test('that has forgotten the session refuses calls which then succeed, once, under the next', async () => {
    const server = await sdkServer(options);
    const first = await openHttp(server.url);
    server.forget();
    for (const id of [2, 3]) first.channel.send(call(id, 'count'), id);
    await expect.poll(() => first.closed.length).toBe(1);
    expect(first.failures).toMatchObject([{ sessionGone: true }, { sessionGone: true }]);
    const second = await openHttp(server.url);
    for (const id of [2, 3]) second.channel.send(call(id, 'count'), id);
    await expect.poll(() => second.messages.length).toBe(3);
    expect(server.calls()).toBe(2);
    await second.channel.close();
  });
});

test('a call whose stream an SDK server closes in mid-call is resumed to its answer', async () => {
  const server = await sdkServer({ eventStore: eventStore(), retryInterval: 20 });
  const heard = await openHttp(server.url);
  heard.channel.send(call(2, 'progress'), 2);
  await expect
    .poll(() => heard.messages.slice(1), { timeout: 5_000 })
    .toEqual([
      '{"method":"notifications/progress","params":{"progressToken":7,"progress":1},"jsonrpc":"2.0"}',
      '{"result":{"content":[]},"jsonrpc":"2.0","id":2}',
    ]);
  await heard.channel.close();
});

test('progress of a call comes before its answer', async () => {
  const server = await sdkServer();
  const heard = await openHttp(server.url);
  heard.channel.send(call(2, 'progress'), 2);
  await expect
    .poll(() => heard.messages.slice(1))
    .toEqual([
      '{"method":"notifications/progress","params":{"progressToken":7,"progress":1},"jsonrpc":"2.0"}',
      '{"result":{"content":[]},"jsonrpc":"2.0","id":2}',
    ]);
  await heard.channel.close();
});
