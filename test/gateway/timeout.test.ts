import { expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw } from '../support/raw-client.ts';

const heard = recordFile();
const shared = { isolation: 'shared' };
const gateway = fileGateway({
  mcpServers: {
    idle: stdioUpstream('plain.mjs', [heard.path], { ...shared, timeout: '800ms', maxTimeout: '1m' }),
    hard: stdioUpstream('plain.mjs', [], { ...shared, timeout: '800ms', maxTimeout: '1200ms' }),
  },
});
const timedOut = (id: number) =>
  errorAnswer(id, -32603, 'The upstream did not answer in time', { reason: 'timeout', retryable: false });

test('a call without an answer ends in an error, its upstream is told, a late answer is dropped and counted', async () => {
  const client = await openRaw(gateway().url);
  expect(await client.ask(toolCall(1, 'idle__late'))).toEqual(timedOut(1));
  const late = async () =>
    sampleValue(parseMetrics(await gateway().metrics()), 'mcp_gateway_unexpected_answers_total', {
      source: 'upstream',
      kind: 'late',
    });
  await expect.poll(late).toBe(1);
  expect(heard.lines().filter((line) => line.startsWith('cancelled'))).toHaveLength(1);
  expect(await client.ask(toolCall(1, 'idle__echo', { text: 'next' }))).toEqual(textAnswer(1, 'next'));
  expect(await client.barrier()).toEqual([]);
});

test('progress starts the limit anew', async () => {
  const client = await openRaw(gateway().url);
  client.send(toolCall(1, 'idle__beat', { every: 250, times: 5 }, { progressToken: 'p' }));
  const frames = [];
  for (let n = 0; n < 6; n += 1) frames.push(await client.json());
  expect(frames.at(-1)).toEqual(textAnswer(1, 'beat 5'));
});

test('progress does not move the hard limit', async () => {
  const client = await openRaw(gateway().url);
  client.send(toolCall(1, 'hard__beat', { every: 250, times: 1000 }, { progressToken: 'p' }));
  const frames = [];
  while (frames.at(-1)?.includes('"id":1') !== true) frames.push(await client.next());
  expect(JSON.parse(frames.at(-1) ?? '')).toEqual(timedOut(1));
  expect(frames.length).toBeLessThan(7);
});
