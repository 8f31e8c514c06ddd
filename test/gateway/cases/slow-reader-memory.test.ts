import { expect, test } from 'vitest';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { openRaw, type RawClient } from '../../support/raw-client.ts';
import { serve } from '../../support/serving.ts';

const MIB = 1024 * 1024;
const RESULTS = 2000;

// Answers each call with 100 KB, or with what it was given; every tenth large one brings a new tool.
const UPSTREAM = `
const tools = ['big', 'echo'];
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
let calls = 0;
const large = () => {
  calls += 1;
  if (calls % 10 === 0) say({ method: 'notifications/tools/list_changed', params: { tools: tools.push('more' + calls) } });
  return 'x'.repeat(100_000);
};
const methods = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'u', version: '1' } }),
  'tools/list': () => ({ tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'tools/call': ({ name, arguments: given }) => ({ content: [{ type: 'text', text: name === 'big' ? large() : given.text }] }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const known = methods[method];
  say(known === undefined ? { id, error: { code: -32601, message: 'Method not found' } } : { id, result: known(params) });
});`;

/** Calls and reads on until it is answered: changes of lists may come before. */
async function call(client: RawClient, id: string): Promise<unknown> {
  client.send(toolCall(id, 'up__echo', { text: id }));
  for (;;) {
    const frame: unknown = await client.json();
    if (Object(frame).id === id) return frame;
  }
}

async function story(isolation: 'session' | 'shared'): Promise<void> {
  const { url, opsUrl } = await serve({
    limits: { inFlight: RESULTS, requestsPerSecond: null, slowReader: '3s' },
    mcpServers: { up: { command: process.execPath, args: ['-e', UPSTREAM], isolation, concurrency: RESULTS + 10 } },
  });
  const metric = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
    sampleValue(parseMetrics(await (await fetch(`${opsUrl}/metrics`)).text()), name, labels) ?? 0;
  const [sleeper, other] = [await openRaw(url), await openRaw(url)];
  expect(await call(sleeper, 'up')).toEqual(textAnswer('up', 'up'));
  expect(await call(other, 'up')).toEqual(textAnswer('up', 'up'));
  const before = await metric('process_resident_memory_bytes');
  sleeper.socket.pause();
  for (let id = 1; id <= RESULTS; id += 1) sleeper.send(toolCall(id, 'up__big'));
  const [memory, waiting]: [number[], number[]] = [[], []];
  const closed = () => metric('mcp_gateway_connections_closed_total', { code: '4430', by: 'gateway' });
  for (let n = 0; (await closed()) === 0; n += 1) {
    expect(await call(other, `n${n}`)).toEqual(textAnswer(`n${n}`, `n${n}`));
    memory.push(await metric('process_resident_memory_bytes'));
    waiting.push(await metric('mcp_gateway_outbox_bytes'));
  }
  expect(Math.max(...waiting)).toBeLessThan(16.5 * MIB);
  expect(Math.max(...memory) - before).toBeLessThan(85 * MIB);
  expect(await call(other, 'still')).toEqual(textAnswer('still', 'still'));
  expect(await metric('mcp_gateway_outbox_bytes')).toBe(0);
}

test(
  '2,000 large results of an upstream of its own, unread, cost bounded memory, then the socket, and nobody else notices',
  () => story('session'),
  60_000,
);

test(
  '2,000 large results of a shared upstream, unread, cost bounded memory, then the socket, and nobody else notices',
  () => story('shared'),
  60_000,
);
