import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.ts';
import { stdioLibrary } from '../support/library.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { leaveStaleSocket } from '../support/stale-socket.ts';
import { connectTcp } from '../support/tcp-client.ts';

const LOOPBACK = { port: 0, tcp: { port: 0 } };

async function open(more: object = {}) {
  const library = await stdioLibrary();
  const gateway = await startGateway({ listen: LOOPBACK, mcpServers: { up: library.entry }, ...more });
  await gateway.ready();
  return { library, gateway };
}

test('a session over TCP is a session: calls, the order of answers, errors that leave it open', async () => {
  const { gateway } = await open();
  const client = await connectTcp(gateway.tcp);
  expect(await client.initialize()).toMatchObject({ id: 'init', result: { protocolVersion: '2025-11-25' } });
  expect(await client.ask(toolCall(1, 'up__echo', { text: 'a\u2028b\n😀' }))).toEqual(textAnswer(1, 'a\u2028b\n😀'));
  client.send('this is no JSON\n');
  expect(JSON.parse((await client.next()) ?? '')).toMatchObject({ id: null, error: { code: -32700 } });
  client.send(`${JSON.stringify(toolCall(2, 'up__echo', { text: 'two' })).replace('"params"', '\r"params"')}\r\n\n`);
  expect(JSON.parse((await client.next()) ?? '')).toEqual(textAnswer(2, 'two'));
  expect(await gateway.metrics()).toContain('mcp_gateway_connections 1\n');
  client.socket.end();
  await expect.poll(gateway.metrics).toContain('mcp_gateway_connections_closed_total{code="1000",by="client"} 1\n');
});

test('every caller is known to have come over TCP', async () => {
  const policy = [{ allow: { tools: ['**'] } }, { deny: { tools: ['up/pid'] }, when: 'principal.via == "tcp"' }];
  const { gateway } = await open({ policy });
  const client = await connectTcp(gateway.tcp);
  await client.initialize();
  expect(await client.ask(toolCall(1, 'up__echo', { text: 'x' }))).toEqual(textAnswer(1, 'x'));
  expect(await client.ask(toolCall(2, 'up__pid'))).toMatchObject({ id: 2, error: { code: -32602 } });
});

describe('a connection whose first line is no request ends, and nothing behind it is read', () => {
  const call = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;

  test.each([
    ['a POST', 'POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'],
    ['a notification', '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'],
    ['an answer', '{"jsonrpc":"2.0","id":1,"result":{}}\n'],
    ['a batch', `[${call.trim()}]\n`],
    ['a request with a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}\n'],
    ['a line over the limit', `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"${'x'.repeat(5000)}"}}\n`],
  ])('%s', async (_name, first) => {
    const gateway = await startGateway({ listen: LOOPBACK, limits: { maxMessage: '4KiB' } });
    const client = await connectTcp(gateway.tcp);
    client.send(first + call);
    expect(await client.rest()).toEqual([]);
    const metrics = await gateway.metrics();
    expect(metrics).toContain('mcp_gateway_connections_refused_total{reason="first_line"} 1\n');
    expect(metrics).toContain('mcp_gateway_connections 0\n');
  });

  test('what a web page makes a browser send', async () => {
    const { gateway, library } = await open();
    const { tcp } = gateway;
    const port = tcp !== undefined && 'port' in tcp ? tcp.port : 0;
    const body = `\n${JSON.stringify(toolCall(1, 'up__wait'))}\n${call}`;
    await expect(fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).rejects.toThrow('fetch failed');
    expect(library.lines().filter((line) => line.startsWith('waiting'))).toEqual([]);
  });

  test('and so does one that says nothing in time', async () => {
    const gateway = await startGateway({ listen: LOOPBACK, limits: { firstMessage: '50ms' } });
    const client = await connectTcp(gateway.tcp);
    client.send('{"jsonrpc":');
    expect(await client.rest()).toEqual([]);
    const reason = 'mcp_gateway_connections_refused_total{reason="first_line_late"} 1\n';
    expect(await gateway.metrics()).toContain(reason);
  });

  test('but not one that began with a request, however late the next comes', async () => {
    const gateway = await startGateway({ listen: LOOPBACK, limits: { firstMessage: '100ms' } });
    const client = await connectTcp(gateway.tcp);
    await client.initialize();
    await (await connectTcp(gateway.tcp)).rest();
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect(await client.ask(ping)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });
});

test('a first line of 64 KiB is read and a longer one is not; a later one may be as long as any message', async () => {
  const gateway = await startGateway({ listen: LOOPBACK });
  const long = (bytes: number) => {
    const line = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"PAD"}}';
    return `${line.replace('PAD', 'x'.repeat(bytes - line.length + 3))}\n`;
  };
  const pong = '{"jsonrpc":"2.0","id":1,"result":{}}';
  const [client, other] = [await connectTcp(gateway.tcp), await connectTcp(gateway.tcp)];
  client.send(long(65_536));
  expect(await client.next()).toBe(pong);
  client.send(long(1_000_000));
  expect(await client.next()).toBe(pong);
  other.send(long(65_537));
  expect(await other.rest()).toEqual([]);
  expect(await gateway.metrics()).toContain('mcp_gateway_connections_refused_total{reason="first_line"} 1\n');
});

test('a later line over the limit ends its connection, after what was answered before', async () => {
  const gateway = await startGateway({ listen: LOOPBACK, limits: { maxMessage: '4KiB' } });
  const client = await connectTcp(gateway.tcp);
  await client.initialize();
  client.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
  client.send(`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"text":"${'x'.repeat(5000)}"}}\n`);
  expect(await client.rest()).toEqual(['{"jsonrpc":"2.0","id":1,"result":{}}']);
  await expect.poll(gateway.metrics).toContain('mcp_gateway_connections_closed_total{code="1009",by="gateway"} 1\n');
});

test('connections are counted with those of the WebSocket, and one too many ends', async () => {
  const gateway = await startGateway({ listen: LOOPBACK, limits: { connections: 1 } });
  const first = await connectTcp(gateway.tcp);
  await first.initialize();
  const second = await connectTcp(gateway.tcp);
  expect(await second.rest()).toEqual([]);
  first.socket.destroy();
  await expect
    .poll(async () => (await connectTcp(gateway.tcp)).ask({ jsonrpc: '2.0', id: 1, method: 'ping' }))
    .toMatchObject({ id: 1, result: {} });
});

test('a call in flight is answered before the gateway stops, and who waits is cut off', async () => {
  const library = await stdioLibrary();
  const gateway = await openGateway({ listen: LOOPBACK, mcpServers: { up: library.entry } });
  await gateway.ready();
  const [client, idle] = [await connectTcp(gateway.tcp), await connectTcp(gateway.tcp)];
  await client.initialize();
  client.send(toolCall(1, 'up__burst'));
  client.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
  expect(JSON.parse((await client.next()) ?? '')).toMatchObject({ id: 2 });
  const closing = gateway.close();
  const rest = await client.rest();
  expect(rest.map((line) => JSON.parse(line)).filter(({ id }) => id === 1)).toEqual([textAnswer(1, 'burst')]);
  expect(await idle.rest()).toEqual([]);
  await closing;
});

describe('a Unix socket', () => {
  const path = () => {
    const directory = mkdtempSync(join(tmpdir(), 'gateway-tcp-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    return join(directory, 'mcp.sock');
  };
  const at = (socket: string) => ({ listen: { port: 0, tcp: { socket } } });

  test('serves, and is gone when the gateway is', async () => {
    const socket = path();
    const gateway = await openGateway(at(socket));
    expect(gateway.tcp).toEqual({ socket });
    expect(await (await connectTcp(gateway.tcp)).initialize()).toMatchObject({ id: 'init', result: {} });
    await gateway.close();
    expect(existsSync(socket)).toBe(false);
  });

  test('left behind by a gateway that was killed is taken over', async () => {
    const socket = path();
    await leaveStaleSocket(socket);
    expect(existsSync(socket)).toBe(true);
    const gateway = await startGateway(at(socket));
    expect(await (await connectTcp(gateway.tcp)).initialize()).toMatchObject({ id: 'init', result: {} });
  });

  test('that somebody listens on is left alone', async () => {
    const socket = path();
    const other = createServer();
    other.listen(socket);
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    await expect(openGateway(at(socket))).rejects.toThrow('cannot start the TCP listener: EADDRINUSE (listen.tcp)');
    expect(existsSync(socket)).toBe(true);
  });
});

test('a port that is taken stops the start, and frees what was opened before', async () => {
  const first = await startGateway({ listen: LOOPBACK });
  const port = first.tcp !== undefined && 'port' in first.tcp ? first.tcp.port : 0;
  const gone = await openGateway({});
  await gone.close();
  const listen = { port: gone.address.port };
  const second = openGateway({ listen: { ...listen, tcp: { port } } });
  await expect(second).rejects.toThrow('cannot start the TCP listener: EADDRINUSE (listen.tcp)');
  expect((await startGateway({ listen })).address.port).toBe(listen.port);
});
