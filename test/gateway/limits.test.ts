import { describe, expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { cancellation, errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { ratedGateway } from '../support/rated-gateway.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { makeIssuer } from '../support/tokens.ts';
import { upgrade } from '../support/upgrade-request.ts';

const MIB = 1024 * 1024;
const heard = recordFile();
const gateway = fileGateway({
  limits: {
    maxMessage: '64KiB',
    maxUpstreamMessage: '2MiB',
    inFlight: 24,
    outbox: '1MiB',
    slowReader: '1s',
    firstMessage: '2s',
  },
  mcpServers: { up: stdioUpstream('plain.mjs', [heard.path], { isolation: 'shared' }) },
});
const metric = async (name: string, labels: Record<string, string>) =>
  sampleValue(parseMetrics(await gateway().metrics()), `mcp_gateway_${name}`, labels) ?? 0;

/** An echo whose message has exactly this many bytes. */
function echoOf(bytes: number): string {
  const frame = (text: string) => JSON.stringify(toolCall(1, 'up__echo', { text }));
  return frame('x'.repeat(bytes - frame('').length));
}

/** A call whose message nests `depth` objects and arrays. */
function nested(depth: number): string {
  const inner = depth - 3;
  const given = `{"text":"deep","tree":${'['.repeat(inner)}${']'.repeat(inner)}}`;
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__echo","arguments":${given}}}`;
}

describe('a message', () => {
  test('of the largest size passes, one byte more closes 1009', async () => {
    const client = await openRaw(gateway().url);
    client.send(echoOf(64 * 1024));
    expect(await client.json()).toMatchObject({ id: 1, result: {} });
    client.send(echoOf(64 * 1024 + 1));
    expect((await client.closed).code).toBe(1009);
    await expect.poll(() => metric('connections_closed_total', { code: '1009', by: 'gateway' })).toBe(1);
  });

  test('nested 4,000 deep passes, deeper is refused and the socket stays', async () => {
    const client = await openRaw(gateway().url);
    expect(await client.ask(nested(4000))).toEqual(textAnswer(1, 'deep'));
    expect(await client.ask(nested(4001))).toEqual(errorAnswer(null, -32600, 'Invalid Request: nested too deeply'));
    expect(await client.ask('['.repeat(30_000))).toEqual(errorAnswer(null, -32700, 'Parse error'));
    expect(await client.ask(nested(4000))).toEqual(textAnswer(1, 'deep'));
  });

  test('in a binary frame closes 1003', async () => {
    const client = await openRaw(gateway().url);
    client.socket.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}'), { binary: true });
    expect(await client.closed).toEqual({ code: 1003, reason: 'binary' });
  });

  test('of bytes that are no UTF-8 closes 1007', async () => {
    const client = await openRaw(gateway().url);
    client.socket.send(Buffer.from([0x22, 0xc3, 0x28, 0x22]), { binary: false });
    expect((await client.closed).code).toBe(1007);
    await expect.poll(() => metric('connections_closed_total', { code: '1007', by: 'gateway' })).toBe(1);
  });
});

test('one request too many in flight is refused, the socket stays, and a finished one makes room', async () => {
  const client = await openRaw(gateway().url);
  for (let id = 1; id <= 24; id += 1) client.send(toolCall(id, 'up__wait'));
  expect(await client.ask(toolCall(25, 'up__echo', { text: 'no' }))).toEqual(
    errorAnswer(25, -32603, 'Too many requests in flight on this connection', {
      reason: 'too_many_in_flight',
      retryable: true,
      retryAfterMs: 100,
    }),
  );
  expect(await client.barrier()).toEqual([]);
  client.send(cancellation(3));
  expect(await client.ask(toolCall(25, 'up__echo', { text: 'yes' }))).toEqual(textAnswer(25, 'yes'));
});

test('the 65th request in flight is refused where nothing else is said, and the socket stays', async () => {
  const { gateway, heard } = await ratedGateway({});
  const client = await openRaw(gateway.url);
  for (let id = 1; id <= 64; id += 1) client.send(toolCall(id, 'up__wait'));
  expect(await client.ask(toolCall(65, 'up__act'))).toMatchObject({
    id: 65,
    error: { code: -32603, data: { reason: 'too_many_in_flight', retryable: true } },
  });
  expect(await client.barrier()).toEqual([]);
  await expect.poll(() => heard().filter((method) => method === 'tools/call')).toHaveLength(64);
});

test('an answer over the limit fails its own call and no other', async () => {
  const client = await openRaw(gateway().url);
  client.send(toolCall('kept', 'up__hold', { key: 'kept' }));
  await expect.poll(() => heard.lines()).toContain('holding kept');
  expect(await client.ask(toolCall(1, 'up__big', { bytes: 2 * MIB }))).toEqual(
    errorAnswer(1, -32603, 'The answer of the upstream is too large or malformed', {
      reason: 'too_large',
      retryable: false,
    }),
  );
  client.send(toolCall(2, 'up__release', { key: 'kept' }));
  expect(await client.json()).toEqual(textAnswer('kept', 'kept'));
});

test('a client that reads nothing is closed 4430 and terminated; others are served meanwhile', async () => {
  const reader = await openRaw(gateway().url);
  const sleeper = await openRaw(gateway().url);
  sleeper.socket.pause();
  for (let id = 1; id <= 24; id += 1) sleeper.send(toolCall(id, 'up__big', { bytes: MIB }));
  expect(await reader.ask(toolCall(1, 'up__echo', { text: 'served' }))).toEqual(textAnswer(1, 'served'));
  const closed = () => metric('connections_closed_total', { code: '4430', by: 'gateway' });
  await expect.poll(closed, { timeout: 10_000 }).toBe(1);
  expect(await reader.ask(toolCall(2, 'up__echo', { text: 'still' }))).toEqual(textAnswer(2, 'still'));
});

test('a modern client that only discovers has opened something, and may still initialize', async () => {
  const clock = fakeClock();
  const gateway = await startGateway({ limits: { firstMessage: '10s', pingInterval: '60m' }, mcpServers: {} }, clock);
  const [idle, late] = [await connectRaw(gateway.url), await connectRaw(gateway.url)];
  for (const client of [idle, late])
    expect(await client.ask(modernRequest(1, 'server/discover'))).toMatchObject({ id: 1, result: {} });
  clock.advance(10_001);
  expect(await idle.ask(modernRequest(2, 'server/discover'))).toMatchObject({ id: 2, result: {} });
  expect(await late.initialize()).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
});

test('a socket whose requests were all refused has opened nothing, unless it has discovered', async () => {
  const clock = fakeClock();
  const gateway = await startGateway({ limits: { firstMessage: '10s', pingInterval: '60m' }, mcpServers: {} }, clock);
  const [refused, late] = [await connectRaw(gateway.url), await connectRaw(gateway.url)];
  await late.ask(modernRequest(0, 'server/discover'));
  for (const client of [refused, late]) {
    expect(await client.ask(modernRequest(1, 'ping'))).toMatchObject({ id: 1, error: { code: -32601 } });
    expect(await client.ask(modernRequest(2, 'no/such'))).toMatchObject({ id: 2, error: { code: -32601 } });
    const bad = { jsonrpc: '2.0', id: 3, method: 'initialize', params: {} };
    expect(await client.ask(bad)).toMatchObject({ id: 3, error: { code: -32602 } });
  }
  clock.advance(10_001);
  expect(await refused.closed).toEqual({ code: 4408, reason: 'nothing_opened' });
  expect(await late.initialize()).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
});

test('a socket on which nothing opens is closed 4408, whatever else it sends', async () => {
  const client = await connectRaw(gateway().url);
  expect(await client.ask({ jsonrpc: '2.0', id: 1, method: 'ping' })).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  expect(await client.closed).toEqual({ code: 4408, reason: 'nothing_opened' });
});

test('nothing that cannot be read puts off the end of a socket on which nothing opens', async () => {
  const { clock, gateway } = await ratedGateway({ firstMessage: '10s' });
  const client = await connectRaw(gateway.url);
  for (let second = 1; second <= 9; second += 1) {
    clock.advance(1000);
    expect(await client.ask('{')).toEqual(errorAnswer(null, -32700, 'Parse error'));
  }
  clock.advance(1000);
  expect(await client.closed).toEqual({ code: 4408, reason: 'nothing_opened' });
});

describe('sockets', () => {
  test('over the number in all are refused 503, until one goes', async () => {
    const { url } = await startGateway({ limits: { connections: 2 } });
    const first = await openRaw(url);
    await openRaw(url);
    const refused = await upgrade(url);
    expect([refused.status, refused.headers['retry-after'], refused.body]).toEqual([
      503,
      '5',
      '{"error":"connections"}',
    ]);
    first.socket.terminate();
    await expect.poll(async () => (await upgrade(url)).status).toBe(101);
  });

  test('over the number of one principal are refused 429, and only to that principal', async () => {
    const issuer = await makeIssuer();
    const { secret, audience, issuer: name } = issuer;
    const { url } = await startGateway({
      auth: { mode: 'jwt', resource: audience, issuers: [{ issuer: name, keys: { secret } }] },
      policy: [],
      limits: { connectionsPerPrincipal: 2 },
    });
    const as = async (sub: string) => ({ headers: { authorization: `Bearer ${await issuer.sign({ sub })}` } });
    await openRaw(url, await as('alice'));
    await openRaw(url, await as('alice'));
    const refused = await upgrade(url, await as('alice'));
    expect([refused.status, refused.headers['retry-after'], refused.body]).toEqual([
      429,
      '5',
      '{"error":"connections_per_principal"}',
    ]);
    expect((await upgrade(url, await as('bob'))).status).toBe(101);
  });
});
