import { describe, expect, test } from 'vitest';
import { DRAINED } from '../support/drained.ts';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';

import { errorAnswer } from '../support/messages.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';

const library = recordFile();
const gateway = fileGateway({
  policy: [{ roles: ['anonymous'], allow: { tools: ['**'], prompts: ['**'], resources: ['book://**'] } }],
  mcpServers: {
    fixture: stdioUpstream('fixture.mjs', [], { isolation: 'shared' }),
    library: stdioUpstream('library.mjs', [library.path], { isolation: 'shared' }),
  },
});

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const SERVER_INFO = { 'io.modelcontextprotocol/serverInfo': { name: 'mcp-ws-gateway', version: '0.1.0' } };

function modern(id: string | number, method: string, params: object = {}, envelope: object = ENVELOPE) {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope } };
}

function connect(): Promise<RawClient> {
  return connectRaw(gateway().url);
}

describe('a modern client', () => {
  test('needs no handshake: a list, a call and its progress, a read', async () => {
    const client = await connect();
    expect(await client.ask(modern('l', 'tools/list'))).toMatchObject({
      id: 'l',
      result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: SERVER_INFO },
    });
    expect(await client.ask(modern(1, 'tools/call', { name: 'fixture__echo', arguments: { text: 'hi' } }))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { resultType: 'complete', content: [{ type: 'text', text: 'hi' }] },
    });
    client.send(modern(2, 'tools/call', { name: 'fixture__progress' }, { ...ENVELOPE, progressToken: 'p' }));
    for (const progress of [1, 2, 3]) {
      expect(await client.json()).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'p', progress, total: 3 },
      });
    }
    expect(await client.json()).toMatchObject({ id: 2, result: { resultType: 'complete' } });
  });

  test('is told what the gateway has by server/discover, first, later and again', async () => {
    const client = await connect();
    const expected = {
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
        },
        _meta: SERVER_INFO,
      },
    };
    expect(await client.ask(modern(1, 'server/discover'))).toMatchObject({ id: 1, ...expected });
    await client.ask(modern(2, 'tools/list'));
    expect(await client.ask(modern('3', 'server/discover'))).toMatchObject({ id: '3', ...expected });
  });

  test.each([
    [{ ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }, -32022],
    [{ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }, -32602],
    [{}, -32602],
  ])('gets the same error for the envelope %j before and after it has settled', async (envelope, code) => {
    const client = await connect();
    await client.ask(modern(1, 'tools/list'));
    expect(await client.ask(modern(2, 'tools/list', {}, envelope))).toMatchObject({ id: 2, error: { code } });
    expect(await client.ask(modern(3, 'server/discover', {}, envelope))).toMatchObject({ id: 3, error: { code } });
  });

  test('an unsupported version names what is supported', async () => {
    const client = await connect();
    const envelope = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    expect(await client.ask(modern(2, 'tools/list', {}, envelope))).toEqual(
      errorAnswer(2, -32022, 'Unsupported protocol version', { supported: ['2026-07-28'], requested: '2099-01-01' }),
    );
    expect(await client.initialize()).toMatchObject({ id: 'init', result: { protocolVersion: '2025-11-25' } });
  });

  test.each(['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'no/such'])(
    '%s is no method',
    async (method) => {
      const client = await connect();
      expect(await client.ask(modern(1, method))).toEqual(errorAnswer(1, -32601, 'Method not found'));
    },
  );

  test('reads a resource, and finds none with the code of its era', async () => {
    const client = await connect();
    expect(await client.ask(modern(1, 'resources/read', { uri: 'book://a' }))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        contents: [{ uri: 'book://a', text: expect.stringMatching(/:book:\/\/a$/) }],
      },
    });
    const missing = await client.ask(modern(2, 'resources/read', { uri: 'book://shelf/missing' }));
    expect(missing).toEqual(errorAnswer(2, -32602, 'no such book', { uri: 'book://shelf/missing' }));
    const burnt = await client.ask(modern(3, 'resources/read', { uri: 'book://shelf/burnt' }));
    expect(burnt).toMatchObject({ id: 3, error: { code: -32050 } });
  });
});

describe('one socket keeps its era', () => {
  test('initialize after a modern request is refused', async () => {
    const client = await connect();
    await client.ask(modern(1, 'tools/list'));
    expect(await client.initialize()).toEqual(
      errorAnswer('init', -32022, 'Unsupported protocol version', {
        supported: ['2026-07-28'],
        requested: '2025-11-25',
      }),
    );
  });

  test('an envelope after initialize is refused', async () => {
    const client = await openRaw(gateway().url);
    expect(await client.ask(modern(1, 'tools/list'))).toMatchObject({ id: 1, error: { code: -32600 } });
  });

  test('server/discover alone settles nothing', async () => {
    const client = await connect();
    await client.ask(modern(1, 'server/discover'));
    expect(await client.initialize()).toMatchObject({ id: 'init', result: { protocolVersion: '2025-11-25' } });
  });
});

describe('a listen', () => {
  const filter = (uris: string[] = []) => ({ notifications: { toolsListChanged: true, resourceSubscriptions: uris } });
  const id = (value: string | number) => ({ 'io.modelcontextprotocol/subscriptionId': value });

  test('is acknowledged first, hears what it asked for under its own id, and nothing after it is cancelled', async () => {
    const client = await connect();
    client.send(modern('s', 'subscriptions/listen', filter()));
    expect(await client.json()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true }, _meta: id('s') },
    });
    client.send(modern(1, 'tools/call', { name: 'fixture__add' }));
    const frames = [await client.json(), await client.json()];
    expect(frames).toContainEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: id('s') },
    });
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 's' } });
    const other = await connect();
    other.send(modern(7, 'subscriptions/listen', filter()));
    await other.json();
    client.send(modern(2, 'tools/call', { name: 'fixture__add' }));
    expect(await client.json()).toMatchObject({ id: 2 });
    expect(await other.json()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: id(7) },
    });
    expect(
      await client.ask(modern(3, 'tools/call', { name: 'fixture__echo', arguments: { text: 'x' } })),
    ).toMatchObject({ id: 3 });
  });

  test('hears of a resource it may read, subscribed to once for all that listen to it', async () => {
    const client = await connect();
    client.send(modern('a', 'subscriptions/listen', filter(['book://a'])));
    client.send(modern('b', 'subscriptions/listen', filter(['book://a', 'other://x'])));
    expect(await client.json()).toMatchObject({ params: { notifications: { resourceSubscriptions: ['book://a'] } } });
    expect(await client.json()).toMatchObject({
      params: { notifications: { resourceSubscriptions: ['book://a'] }, _meta: id('b') },
    });
    await expect
      .poll(() => library.lines().filter((line) => line.startsWith('subscribe')), { timeout: 5000 })
      .toEqual(['subscribe book://a']);
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'b' } });
    await expect.poll(() => library.lines(), { timeout: 5000 }).toContain('unsubscribe book://a');
  });

  test('with an id in flight is refused, and may be opened again once it has ended', async () => {
    const client = await connect();
    client.send(modern('s', 'subscriptions/listen', filter()));
    await client.json();
    expect(await client.ask(modern('s', 'tools/list'))).toMatchObject({ id: null, error: { code: -32600 } });
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 's' } });
    expect(await client.ask(modern('s', 'tools/list'))).toMatchObject({ id: 's' });
  });

  test('without a filter is refused', async () => {
    const client = await connect();
    expect(await client.ask(modern('s', 'subscriptions/listen'))).toMatchObject({ id: 's', error: { code: -32602 } });
    expect(await client.ask(modern('s', 'tools/list'))).toMatchObject({ id: 's', result: {} });
  });

  test('ends with its result when the gateway shuts down', async () => {
    const client = await connect();
    client.send(modern('s', 'subscriptions/listen', filter()));
    await client.json();
    const closing = gateway().close();
    expect(await client.json()).toEqual({
      jsonrpc: '2.0',
      id: 's',
      result: { resultType: 'complete', _meta: { ...id('s'), ...SERVER_INFO } },
    });
    expect(await client.closed).toEqual(DRAINED);
    await closing;
  });
});
