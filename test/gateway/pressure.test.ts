import { expect, onTestFinished, test, vi } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';
import { connectTcp } from '../support/tcp-client.ts';
import { upgrade } from '../support/upgrade-request.ts';

const NEVER = Number.POSITIVE_INFINITY;
const CALM = { maxEventLoopDelay: NEVER, maxHeapUsedBytes: NEVER, maxRssBytes: NEVER, sampleInterval: 50 };
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const PONG = { jsonrpc: '2.0', id: 1, result: {} };
const SOON = { timeout: 10_000 };

/** Holds up every turn of this process's event loop, the gateway's too, until told to stop. */
function blockLoop(ms: number): () => void {
  let isOn = true;
  const block = () => {
    const end = performance.now() + ms;
    while (performance.now() < end);
    if (isOn) setImmediate(block);
  };
  block();
  const stop = () => {
    isOn = false;
  };
  onTestFinished(stop);
  return stop;
}

test('while the event loop is late nobody else comes in and open sockets go on; then upgrades pass again', async () => {
  const gateway = await startGateway({}, undefined, { pressure: { ...CALM, maxEventLoopDelay: 300 } });
  // A machine that is busy may be late by itself.
  const client = await vi.waitFor(() => openRaw(gateway.url), SOON);
  const unblock = blockLoop(400);
  await expect.poll(async () => (await upgrade(gateway.url)).status, SOON).toBe(503);
  const { status, headers, body } = await upgrade(gateway.url);
  expect([status, headers['retry-after'], body]).toEqual([503, '5', '{"error":"overloaded"}']);
  expect(await client.ask(PING)).toEqual(PONG);
  unblock();
  await expect.poll(async () => (await upgrade(gateway.url)).status, SOON).toBe(101);
});

test.each(['maxHeapUsedBytes', 'maxRssBytes'])(
  'so it is over %s, on the TCP listener too, and of no other request',
  async (limit) => {
    const listen = { port: 0, tcp: { port: 0 } };
    const gateway = await startGateway({ listen }, undefined, { pressure: { ...CALM, [limit]: 1 } });
    await expect.poll(async () => (await upgrade(gateway.url)).body, SOON).toBe('{"error":"overloaded"}');
    const line = await connectTcp(gateway.tcp);
    expect(await line.rest()).toEqual([]);
    expect((await fetch(gateway.url.replace('ws:', 'http:'))).status).toBe(426);
    expect((await fetch(`${gateway.opsUrl}/healthz`)).status).toBe(200);
    expect(await gateway.metrics()).toMatch(/connections_refused_total\{reason="overloaded"\} [2-9]/);
    expect(gateway.log).toContainEqual(expect.objectContaining({ level: 'debug', event: 'tcp_refused' }));
  },
);

test('what measures it ends with the gateway', async () => {
  const gateway = await startGateway({}, undefined, { pressure: { ...CALM, sampleInterval: 10 } });
  const measured = vi.spyOn(process, 'memoryUsage');
  onTestFinished(() => measured.mockRestore());
  await expect.poll(() => measured.mock.calls.length, SOON).toBeGreaterThan(3);
  await gateway.close();
  measured.mockClear();
  // Another gateway's samples say that its own would have come by now.
  const other = await startGateway({}, undefined, { pressure: { ...CALM, sampleInterval: 100 } });
  await expect.poll(() => measured.mock.calls.length, SOON).toBeGreaterThan(0);
  expect(measured.mock.calls.length).toBeLessThan(5);
  await other.close();
});
