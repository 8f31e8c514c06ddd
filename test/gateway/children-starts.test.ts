import { expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

const paced = recordFile();
const full = recordFile();
const echoed = textAnswer(1, 'in');
const started = (record: { lines(): string[] }) => record.lines().filter((line) => line.startsWith('pid')).length;

async function pacedGateway(record: { path: string }) {
  const clock = fakeClock();
  const mcpServers = { up: stdioUpstream('plain.mjs', [record.path]) };
  const limits = { childStartsPerSecond: 1, pingInterval: '60m' };
  const gateway = await startGateway({ limits, mcpServers }, clock);
  await gateway.ready();
  return { clock, open: () => openRaw(gateway.url) };
}

test('one process too many in a second is started when its turn comes', async () => {
  const { clock, open } = await pacedGateway(paced);
  const [one, two] = [await open(), await open()];
  expect(await one.ask(toolCall(1, 'up__echo', { text: 'in' }))).toEqual(echoed);
  two.send(toolCall(1, 'up__echo', { text: 'in' }));
  expect(await two.barrier()).toEqual([]);
  const before = started(paced);
  clock.advance(999);
  expect(await two.barrier()).toEqual([]);
  expect(started(paced)).toBe(before);
  clock.advance(1);
  expect(await two.json()).toEqual(echoed);
  expect(started(paced)).toBe(before + 1);
});

test('a call whose process would not be started within 3 s fails at once, and its socket stays', async () => {
  const { clock, open } = await pacedGateway(full);
  const [first, late] = [await open(), await open()];
  const waiting = [await open(), await open(), await open()];
  expect(await first.ask(toolCall(1, 'up__echo', { text: 'in' }))).toEqual(echoed);
  for (const client of waiting) {
    client.send(toolCall(1, 'up__echo', { text: 'in' }));
    expect(await client.barrier()).toEqual([]);
  }
  const data = { reason: 'at_capacity', retryable: true, retryAfterMs: 1000 };
  expect(await late.ask(toolCall(1, 'up__echo'))).toEqual(errorAnswer(1, -32603, 'The gateway is at capacity', data));
  for (const client of waiting) {
    clock.advance(1000);
    expect(await client.json()).toEqual(echoed);
  }
  clock.advance(1000);
  expect(await late.ask(toolCall(2, 'up__echo', { text: 'next' }))).toEqual(textAnswer(2, 'next'));
});
