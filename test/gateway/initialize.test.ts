import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';

const gateway = fileGateway({ mcpServers: { up: stdioUpstream('plain.mjs') } });
const CLIENT = { capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
const initialize = (id: string | number, params: object) => ({ jsonrpc: '2.0', id, method: 'initialize', params });
const ask = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const raw = () => connectRaw(gateway().url);

describe('initialize', () => {
  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])(
    'is answered with the revision asked for: %s',
    async (protocolVersion) => {
      const client = await raw();
      expect(await client.ask(initialize(1, { protocolVersion, ...CLIENT }))).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: {
          protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'mcp-ws-gateway', version: '0.1.0' },
        },
      });
    },
  );

  test.each(['1999-01-01', '2026-07-28', ''])(
    'of an unknown revision is answered with the newest: %j',
    async (asked) => {
      const client = await raw();
      expect(await client.ask(initialize('a', { protocolVersion: asked, ...CLIENT }))).toMatchObject({
        id: 'a',
        result: { protocolVersion: '2025-11-25' },
      });
    },
  );

  test('a second time is refused, and the session goes on', async () => {
    const client = await openRaw(gateway().url);
    expect(await client.ask(initialize(2, { protocolVersion: '2025-06-18', ...CLIENT }))).toEqual(
      errorAnswer(2, -32600, 'Already initialized'),
    );
    expect(await client.ask(ask(3, 'tools/list'))).toMatchObject({ id: 3, result: {} });
  });

  test.each([
    {},
    { protocolVersion: 1, ...CLIENT },
    { protocolVersion: '2025-11-25', capabilities: {} },
    { protocolVersion: '2025-11-25', capabilities: [], clientInfo: CLIENT.clientInfo },
  ])('with wrong params is refused and may be tried again: %j', async (params) => {
    const client = await raw();
    expect(await client.ask(initialize(1, params))).toEqual(errorAnswer(1, -32602, 'Invalid params of initialize'));
    expect(await client.ask(ask(2, 'tools/list'))).toEqual(errorAnswer(2, -32600, 'Send initialize first'));
    expect(await client.ask(initialize(1, { protocolVersion: '2025-11-25', ...CLIENT }))).toMatchObject({
      id: 1,
      result: { protocolVersion: '2025-11-25' },
    });
    expect(await client.ask(ask(2, 'tools/list'))).toMatchObject({ id: 2, result: {} });
  });
});

describe('before initialize', () => {
  test.each(['tools/list', 'tools/call', 'resources/read', 'logging/setLevel', 'no/such'])(
    '%s is refused and the socket stays',
    async (method) => {
      const client = await raw();
      expect(await client.ask(ask(1, method))).toEqual(errorAnswer(1, -32600, 'Send initialize first'));
      expect(await client.barrier()).toEqual([]);
    },
  );

  test('a probe is answered', async () => {
    const client = await raw();
    expect(await client.ask(ask(1, 'ping'))).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    expect(await client.ask(ask(2, 'server/discover'))).toEqual(
      errorAnswer(2, -32602, 'Invalid params: _meta must hold io.modelcontextprotocol/protocolVersion'),
    );
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    expect(await client.ask(ask(3, 'tools/list', { _meta }))).toEqual(
      errorAnswer(3, -32602, 'Invalid params: _meta must hold io.modelcontextprotocol/clientCapabilities'),
    );
    client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await client.ask(initialize(1, { protocolVersion: '2025-11-25', ...CLIENT }))).toMatchObject({ id: 1 });
  });
});

describe('before upstreams with tools only', () => {
  test.each([
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'resources/subscribe',
    'resources/unsubscribe',
    'logging/setLevel',
    'server/discover',
    'tasks/list',
  ])('%s is no method', async (method) => {
    const client = await openRaw(gateway().url);
    expect(await client.ask(ask(1, method, { uri: 'a:b', level: 'info' }))).toEqual(
      errorAnswer(1, -32601, 'Method not found'),
    );
  });
});

test('a frame sent in one segment with the upgrade is not lost', async () => {
  const { hostname, port, host } = new URL(gateway().url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const key = randomBytes(16).toString('base64');
  const head = `GET /mcp HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`;
  const ping = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  // A masked text frame (RFC 6455 section 5.2) whose mask of zeros leaves the payload as it is.
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | ping.length, 0, 0, 0, 0]), ping]);
  let read = '';
  socket.on('data', (chunk: Buffer) => {
    read += chunk.toString('latin1');
  });
  socket.write(Buffer.concat([Buffer.from(head), frame]));
  await expect.poll(() => read).toContain('{"jsonrpc":"2.0","id":1,"result":{}}');
});
