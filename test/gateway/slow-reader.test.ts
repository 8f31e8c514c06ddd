import { expect, onTestFinished, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream, type TestGateway } from '../support/gateway.ts';
import { answerJson, answerStatus, openHttpUpstream, startEvents } from '../support/http-upstream.ts';
import { toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';
import { offering, scriptedUpstream } from '../support/scripted-upstream.ts';

const PATIENT = { timeout: 20_000 };
const MIB = 1024 * 1024;
const CALLS = 24;
const LIMITS = { outbox: '1MiB', slowReader: '10s', pingInterval: '60m', inFlight: CALLS };
const record = recordFile();

async function waiting(gateway: TestGateway): Promise<number> {
  return sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_outbox_bytes', {}) ?? 0;
}

/** Reads nothing from now on, and calls for far more than its outbox and the system's buffers hold. */
function stopReading(client: RawClient): void {
  client.socket.pause();
  for (let id = 1; id <= CALLS; id += 1) client.send(toolCall(id, 'up__big', { bytes: MIB }));
}

/** A server whose answers come half as JSON and half as events, each on a connection of its own. */
async function overHttp() {
  const initialized = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'h', version: '1' },
  };
  const listed = { tools: [{ name: 'big', inputSchema: { type: 'object' } }] };
  const { url, close } = await openHttpUpstream(({ method, body, response }) => {
    if (method !== 'POST') return answerStatus(response, 405);
    const { id, method: asked, params } = JSON.parse(body);
    if (id === undefined) return answerStatus(response, 202);
    if (asked === 'server/discover') return answerStatus(response, 404);
    const big = { content: [{ type: 'text', text: 'x'.repeat(params?.arguments?.bytes ?? 0) }] };
    const result = asked === 'initialize' ? initialized : asked === 'tools/list' ? listed : big;
    const text = JSON.stringify({ jsonrpc: '2.0', id, result });
    if (id % 2 === 0) return answerJson(response, text);
    startEvents(response, `data: ${text}\n\n`);
    response.end();
  });
  onTestFinished(close);
  return { url };
}

async function overWebSocket() {
  const { entry } = await scriptedUpstream({
    ...offering('big'),
    'tools/call': ({ result }) => result({ content: [{ type: 'text', text: 'x'.repeat(MIB) }] }),
  });
  return entry;
}

/** Calls end only by their hard limit meanwhile: the other one is over before the reader goes on. */
async function story(upstream: object): Promise<void> {
  const clock = fakeClock();
  const gateway = await startGateway({ limits: LIMITS, mcpServers: { up: { ...upstream, timeout: '5s' } } }, clock);
  const [client, other] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  stopReading(client);
  await expect.poll(() => waiting(gateway), PATIENT).toBeGreaterThan(MIB);
  for (let round = 0; round < 50; round += 1) await other.barrier();
  expect(await waiting(gateway)).toBeLessThan(2.1 * MIB);
  clock.advance(9000);
  let answers = 0;
  client.socket.on('message', () => {
    answers += 1;
  });
  client.socket.resume();
  await expect
    .poll(() => {
      clock.advance(50);
      return answers;
    }, PATIENT)
    .toBe(CALLS);
  const ids = new Set<unknown>();
  for (let n = 0; n < CALLS; n += 1) {
    const answer: unknown = await client.json();
    expect(answer).toMatchObject({ result: { content: [{ text: expect.stringMatching(/^x{1048576}$/) }] } });
    ids.add(Object(answer).id);
  }
  expect(ids.size).toBe(CALLS);
  expect(await client.barrier()).toEqual([]);
}

test('what comes over a pipe of a slow reader’s own waits there, and nothing of it is lost', async () => {
  await story(stdioUpstream('plain.mjs', [record.path]));
}, 60_000);

test('what comes over HTTP for a slow reader alone waits there, and nothing of it is lost', async () => {
  await story(await overHttp());
}, 60_000);

test('what comes over a WebSocket of a slow reader’s own waits there, and nothing of it is lost', async () => {
  await story(await overWebSocket());
}, 60_000);

test('a reader that takes nothing for its time is closed 4430 and cut off', async () => {
  const clock = fakeClock();
  const upstream = stdioUpstream('plain.mjs', [record.path]);
  const gateway = await startGateway({ limits: LIMITS, mcpServers: { up: upstream } }, clock);
  const [client, other] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  stopReading(client);
  await expect.poll(() => waiting(gateway), PATIENT).toBeGreaterThan(MIB);
  for (let round = 0; round < 50; round += 1) await other.barrier();
  // What the system took until here counts as drained.
  clock.advance(100);
  clock.advance(9800);
  expect(await waiting(gateway)).toBeGreaterThan(MIB);
  clock.advance(200);
  clock.advance(1000);
  client.socket.resume();
  expect((await client.closed).code).toBe(1006);
  const closed = async () =>
    sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_connections_closed_total', {
      code: '4430',
      by: 'gateway',
    });
  await expect.poll(closed, PATIENT).toBe(1);
  await expect.poll(() => waiting(gateway), PATIENT).toBe(0);
}, 60_000);
