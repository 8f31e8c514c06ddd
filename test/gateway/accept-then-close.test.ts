import { describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { halfOpenPage } from '../support/half-open-page.ts';
import { startKeyServer } from '../support/key-server.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { APP, browserConfig, browserGateway, issuer } from '../support/ticketed-gateway.ts';
import { makeIssuer } from '../support/tokens.ts';
import { upgrade } from '../support/upgrade-request.ts';

const gateway = browserGateway({}, { requiredScopes: ['mcp:use'] });
const good = { scope: 'mcp:use' };

/** What a page sees of its socket: the subprotocol it got, the frames, the close. */
async function page({ url }: { readonly url: string }, protocols: readonly string[] = ['mcp'], query = '') {
  const client = await connectRaw(`${url}${query}`, { protocols, headers: { origin: APP } });
  return { protocol: client.socket.protocol, ...(await client.closed) };
}
const metric = async (own: TestGateway, name: string, labels: Record<string, string> = {}) =>
  sampleValue(parseMetrics(await own.metrics()), `mcp_gateway_${name}`, labels);

describe('a page at a listed Origin is told by a close', () => {
  const UNAUTHENTICATED = { protocol: 'mcp', code: 4401, reason: 'unauthenticated' };

  test('that it has no token', async () => {
    expect(await page(gateway())).toEqual(UNAUTHENTICATED);
  });

  test('that its token is refused', async () => {
    const expired = await issuer.sign({ ...good, exp: Math.floor(Date.now() / 1000) - 60 });
    expect(await page(gateway(), ['mcp', 'mcp.auth.abc'])).toEqual(UNAUTHENTICATED);
    expect(await page(gateway(), ['mcp', `mcp.auth.${expired}`])).toEqual(UNAUTHENTICATED);
    expect(JSON.stringify(gateway().log)).not.toContain(expired);
  });

  test('that its ticket is refused', async () => {
    expect(await page(gateway(), ['mcp'], '?ticket=abc')).toEqual(UNAUTHENTICATED);
  });

  test('that its token lacks a scope', async () => {
    const told = await page(gateway(), ['mcp', `mcp.auth.${await issuer.sign()}`]);
    expect(told).toEqual({ protocol: 'mcp', code: 4403, reason: 'forbidden' });
  });

  test('that it carries its token wrongly', async () => {
    const token = await issuer.sign(good);
    const malformed = { protocol: 'mcp', code: 4400, reason: 'malformed' };
    expect(await page(gateway(), ['mcp'], `?token=${token}`)).toEqual(malformed);
    expect(await page(gateway(), ['mcp', `mcp.auth.${token}`], '?ticket=abc')).toEqual(malformed);
  });

  test('that its principal has too many sockets, and when to come again', async () => {
    const own = await startGateway(browserConfig({ limits: { connectionsPerPrincipal: 1 } }));
    const protocols = ['mcp', `mcp.auth.${await issuer.sign()}`];
    await openRaw(own.url, { protocols });
    expect(await page(own, protocols)).toEqual({ protocol: 'mcp', code: 4429, reason: 'too_many retry=5000' });
  });

  test('that its address comes too often, and when to come again', async () => {
    const own = await startGateway(browserConfig({ limits: { handshakes: { perAddress: { rate: 1, burst: 1 } } } }));
    await page(own);
    const told = await page(own);
    expect(told).toMatchObject({ code: 4429, reason: expect.stringMatching(/^too_many retry=\d+$/) });
  });

  test('that its token cannot be judged now, and when to come again', async () => {
    const server = await startKeyServer();
    await server.close();
    const far = await makeIssuer({ alg: 'ES256' });
    const issuers = [{ issuer: far.issuer, keys: { jwksUri: server.jwksUri } }];
    const own = await startGateway(browserConfig({}, { issuers }));
    const told = await page(own, ['mcp', `mcp.auth.${await far.sign()}`]);
    expect(told).toMatchObject({ code: 1013, reason: expect.stringMatching(/^overloaded retry=\d+$/) });
  });

  test('without a subprotocol where it offered none', async () => {
    expect(await page(gateway(), [])).toEqual({ protocol: '', code: 4401, reason: 'unauthenticated' });
  });
});

describe('told by HTTP, as ever, are', () => {
  const refusal = async (own: TestGateway, headers: Record<string, string>) => {
    const { status, body } = await upgrade(own.url, { headers });
    return [status, body];
  };

  test('those without an Origin', async () => {
    expect(await refusal(gateway(), {})).toEqual([401, '{"error":"no_token"}']);
  });

  test('pages elsewhere, and under another Host', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      expect(await refusal(gateway(), { origin })).toEqual([403, '{"error":"origin"}']);
    }
    expect(await refusal(gateway(), { origin: APP, host: 'evil.example' })).toEqual([403, '{"error":"host"}']);
  });

  test('a page that comes when there are too many sockets in all', async () => {
    const own = await startGateway(browserConfig({ limits: { connections: 1 } }));
    const protocols = ['mcp', `mcp.auth.${await issuer.sign()}`];
    await openRaw(own.url, { protocols });
    const headers = { origin: APP, 'sec-websocket-protocol': protocols.join(', ') };
    expect(await refusal(own, headers)).toEqual([503, '{"error":"connections"}']);
  });
});

test('it is a refusal and no connection, and nothing of what the page sends is read', async () => {
  const own = await startGateway(browserConfig());
  const socket = new WebSocket(own.url, ['mcp'], { headers: { origin: APP } });
  onTestFinished(() => socket.terminate());
  const frames: string[] = [];
  socket.on('message', (data) => frames.push(String(data)));
  socket.on('open', () => socket.send('{"jsonrpc":"2.0","id":1,"method":"ping"}'));
  await new Promise((resolve) => socket.once('close', resolve));
  expect(frames).toEqual([]);
  expect(await metric(own, 'connections_refused_total', { reason: 'no_token' })).toBe(1);
  expect(await metric(own, 'connections_opened_total')).toBe(0);
  expect(await metric(own, 'connections')).toBe(0);
  expect(await metric(own, 'messages_total', { direction: 'in' })).toBeUndefined();
  expect(await metric(own, 'upgrade_duration_seconds_count', { outcome: 'refused' })).toBe(1);
  const told = own.log.filter(({ event }) => event === 'upgrade_refused').map(({ fields }) => fields);
  expect(told).toEqual([{ request: expect.any(String), address: '127.0.0.1', reason: 'no_token', close: 4401 }]);
});

/** A masked text frame under the mask 0 (RFC 6455 section 5.2). */
function masked(text: string): Buffer {
  return Buffer.concat([Buffer.of(0x81, 0x80 + text.length, 0, 0, 0, 0), Buffer.from(text)]);
}

test('the connection ends 1 s later whatever the page does; 64 are told at once, the next by HTTP', async () => {
  const clock = fakeClock();
  const own = await startGateway(browserConfig(), clock);
  const come = () => halfOpenPage(own.url, '/mcp', APP, masked('{"jsonrpc":"2.0","id":1,"method":"ping"}'));
  const UNAUTHENTICATED = { code: 4401, reason: 'unauthenticated' };
  const told = await Promise.all(Array.from({ length: 64 }, come));
  expect(told.map(({ close }) => close)).toEqual(Array(64).fill(UNAUTHENTICATED));
  expect((await come()).status).toBe(401);
  clock.advance(999);
  expect((await come()).status).toBe(401);
  clock.advance(1);
  await expect.poll(async () => (await come()).close).toEqual(UNAUTHENTICATED);
  expect(await metric(own, 'messages_total', { direction: 'in' })).toBeUndefined();
});

test('a page that sends without end is not read, nor can it write into the log', async () => {
  const clock = fakeClock();
  const own = await startGateway(browserConfig(), clock);
  // No frame is like this (RFC 6455 section 5.2).
  const { socket } = await halfOpenPage(own.url, '/mcp', APP, Buffer.alloc(100, 0xff));
  let isTaken = false;
  const over = new Promise((resolve) => {
    socket.once('error', resolve);
    socket.once('close', resolve);
  });
  socket.write(Buffer.alloc(64 * 1024 * 1024, 0xff), (error) => {
    isTaken = !error;
  });
  for (let round = 0; round < 50; round += 1) await metric(own, 'connections');
  expect(isTaken).toBe(false);
  clock.advance(1000);
  await over;
  expect(own.log.map(({ event }) => event)).toEqual(['upgrade_refused']);
});

test('a gateway that stops does not wait for pages that are being told', async () => {
  const own = await startGateway(browserConfig(), fakeClock());
  const { close } = await halfOpenPage(own.url, '/mcp', APP);
  expect(close).toEqual({ code: 4401, reason: 'unauthenticated' });
  // Its clock stands still and the page stays: nothing but the stopping can end the connection.
  await own.close();
});
