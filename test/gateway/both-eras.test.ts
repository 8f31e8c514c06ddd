import { describe, expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';

const library = recordFile();
const gateway = fileGateway({
  mcpServers: {
    library: stdioUpstream('library.mjs', [library.path], { isolation: 'shared' }),
    own: stdioUpstream('library.mjs', ['', '{"tag":"own","resources":[],"templates":[]}']),
  },
});

const CLIENT = { capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
const request = (id: string | number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const initialize = request('init', 'initialize', { protocolVersion: '2025-11-25', ...CLIENT });
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const LISTS_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

/** A socket that has probed. */
async function probed(): Promise<RawClient> {
  const client = await connectRaw(gateway().url);
  expect(await client.ask(modernRequest('probe', 'server/discover'))).toMatchObject({ id: 'probe', result: {} });
  return client;
}

describe('a session that was probed with server/discover before initialize', () => {
  test('has its subscriptions, and is told of updates as a handshake client', async () => {
    const client = await probed();
    await client.initialize();
    expect(await client.ask(request(1, 'resources/subscribe', { uri: 'lib://books/1' }))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {},
    });
    client.send(toolCall(2, 'library__touch', { uri: 'lib://books/1' }));
    const updated = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'lib://books/1' } };
    const frames = [await client.json(), await client.json()];
    expect(frames).toContainEqual(updated);
    expect(frames).toContainEqual(textAnswer(2, 'touched 1'));
    expect(await client.ask(request(3, 'resources/unsubscribe', { uri: 'lib://books/1' }))).toMatchObject({
      id: 3,
      result: {},
    });
    expect(library.lines()).toContain('unsubscribe lib://books/1');
  });

  test('has its log level', async () => {
    const client = await probed();
    await client.initialize();
    const log = (id: number, level: string) => client.send(toolCall(id, 'own__log', { level, data: level }));
    expect(await client.ask(request(1, 'logging/setLevel', { level: 'error' }))).toMatchObject({ id: 1, result: {} });
    log(2, 'info');
    expect(await client.json()).toEqual(textAnswer(2, 'logged'));
    log(3, 'error');
    expect(await client.json()).toMatchObject({ method: 'notifications/message', params: { data: 'error' } });
    expect(await client.json()).toEqual(textAnswer(3, 'logged'));
  });

  test('is told nothing before `initialized`, and then what has changed', async () => {
    const client = await probed();
    const other = await openRaw(gateway().url);
    expect(await client.ask(initialize)).toMatchObject({ id: 'init', result: { protocolVersion: '2025-11-25' } });
    other.send(toolCall(1, 'library__add'));
    const heard = [await other.json(), await other.json()];
    expect(heard).toContainEqual(LISTS_CHANGED);
    expect(await client.barrier()).toEqual([]);
    client.send(INITIALIZED);
    expect(await client.json()).toEqual(LISTS_CHANGED);
  });

  test('knows no modern request any more, and answers probes still', async () => {
    const client = await probed();
    await client.initialize();
    expect(await client.ask(modernRequest(1, 'tools/list'))).toMatchObject({ id: 1, error: { code: -32600 } });
    expect(await client.ask(modernRequest(2, 'server/discover'))).toMatchObject({ id: 2, error: { code: -32600 } });
    expect(await client.ask(request(3, 'server/discover'))).toMatchObject({ id: 3, error: { code: -32601 } });
    expect(await client.barrier()).toEqual([]);
  });

  test('answers both where they came together, and takes what follows', async () => {
    const client = await connectRaw(gateway().url);
    client.send(modernRequest('probe', 'server/discover'));
    client.send(initialize);
    client.send(INITIALIZED);
    client.send(request(1, 'logging/setLevel', { level: 'error' }));
    const answers = [await client.json(), await client.json(), await client.json()];
    expect(answers).toContainEqual(expect.objectContaining({ id: 'probe', result: expect.anything() }));
    expect(answers).toContainEqual(expect.objectContaining({ id: 'init', result: expect.anything() }));
    expect(answers).toContainEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });
});

describe('what is refused opens no era', () => {
  test.each([
    ['ping', -32601],
    ['no/such', -32601],
    ['resources/subscribe', -32601],
    ['initialize', -32601],
  ])('a modern %s: initialize is accepted after it', async (method, code) => {
    const client = await connectRaw(gateway().url);
    expect(await client.ask(modernRequest(1, method, CLIENT))).toMatchObject({ id: 1, error: { code } });
    expect(await client.initialize()).toMatchObject({ id: 'init', result: { protocolVersion: '2025-11-25' } });
    expect(await client.ask(request(2, 'logging/setLevel', { level: 'error' }))).toMatchObject({ id: 2, result: {} });
  });

  test.each([false, true])(
    'an initialize (probed before: %s): a modern request is accepted after it',
    async (probes) => {
      const client = await (probes ? probed() : connectRaw(gateway().url));
      const refused = request(1, 'initialize', { protocolVersion: 5 });
      expect(await client.ask(refused)).toMatchObject({ id: 1, error: { code: -32602 } });
      expect(await client.ask(modernRequest(2, 'server/discover'))).toMatchObject({ id: 2, result: {} });
      const filter = { notifications: { toolsListChanged: true } };
      expect(await client.ask(modernRequest('s', 'subscriptions/listen', filter))).toMatchObject({
        method: 'notifications/subscriptions/acknowledged',
      });
      client.send(modernRequest(3, 'tools/call', { name: 'library__add' }));
      const heard = [await client.json(), await client.json()];
      expect(heard).toContainEqual({
        ...LISTS_CHANGED,
        params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 's' } },
      });
      expect(await client.ask(initialize)).toEqual(
        errorAnswer('init', -32022, 'Unsupported protocol version', {
          supported: ['2026-07-28'],
          requested: '2025-11-25',
        }),
      );
    },
  );
});
