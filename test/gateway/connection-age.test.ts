import { expect, test } from 'vitest';
import { startAge } from '../../src/session/age.ts';
import { DRAINED, DRAINING_DATA } from '../support/drained.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway } from '../support/gateway.ts';
import { errorAnswer, toolCall } from '../support/messages.ts';
import { ratedGateway } from '../support/rated-gateway.ts';
import { openRaw } from '../support/raw-client.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test('a socket is closed 1001 at its age, give or take a tenth, when nothing is in flight', async () => {
  const { clock, gateway } = await ratedGateway({ connectionAge: '1h', pingInterval: '24d' });
  const client = await openRaw(gateway.url);
  clock.advance(0.9 * HOUR - 1);
  expect(await client.barrier()).toEqual([]);
  clock.advance(0.2 * HOUR + 1);
  expect(await client.closed).toEqual(DRAINED);
  const next = await openRaw(gateway.url);
  expect(await next.ask(toolCall(1, 'up__act'))).toMatchObject({ id: 1, result: {} });
});

test('one with a call in flight finishes that first, and begins no other', async () => {
  const { answerHeld, clock, gateway, heard } = await ratedGateway({ connectionAge: '1m' });
  const client = await openRaw(gateway.url);
  client.send(toolCall(1, 'up__wait'));
  await expect.poll(heard).toContain('tools/call');
  clock.advance(66_000);
  expect(await client.ask(toolCall(2, 'up__act'))).toEqual(
    errorAnswer(2, -32603, 'The gateway is shutting down', DRAINING_DATA),
  );
  answerHeld();
  expect(await client.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } });
  expect(await client.closed).toEqual(DRAINED);
});

test('what outlasts timing.drain.inFlight ends in an error, is cancelled, and then the socket closes', async () => {
  const { clock, gateway, heard } = await ratedGateway(
    { connectionAge: '1m' },
    { timing: { drain: { inFlight: '5s' } } },
  );
  const client = await openRaw(gateway.url);
  client.send(toolCall(1, 'up__wait'));
  await expect.poll(heard).toContain('tools/call');
  clock.advance(66_000);
  clock.advance(5_000);
  expect(await client.json()).toEqual(errorAnswer(1, -32603, 'The gateway is shutting down', DRAINING_DATA));
  expect(await client.closed).toEqual(DRAINED);
  await expect.poll(heard).toContain('notifications/cancelled');
});

test('an age of 60 days is one', async () => {
  const clock = fakeClock();
  const gateway = await startGateway({ limits: { connectionAge: '60d', pingInterval: '90d' }, mcpServers: {} }, clock);
  const client = await openRaw(gateway.url);
  clock.advance(50 * DAY);
  expect(await client.barrier()).toEqual([]);
  clock.advance(16 * DAY);
  expect(await client.closed).toEqual(DRAINED);
});

test.each([
  [0, 90],
  [0.5, 100],
  [0.75, 105],
])('of 100 ms, by chance %d, it is %d ms; then calls in flight have their time', (chance, age) => {
  const clock = fakeClock();
  const told: string[] = [];
  const limits = { connectionAge: 100, drain: { inFlight: 20 } };
  const events = { aged: () => void told.push('aged'), over: () => void told.push('over') };
  startAge(clock, limits, () => chance, events);
  clock.advance(age - 1);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual(['aged']);
  clock.advance(19);
  expect(told).toEqual(['aged']);
  clock.advance(1);
  expect(told).toEqual(['aged', 'over']);
});

test('nothing comes of it once it is stopped, before the age or after', () => {
  const clock = fakeClock();
  const told: string[] = [];
  const limits = { connectionAge: 100, drain: { inFlight: 20 } };
  const events = { aged: () => void told.push('aged'), over: () => void told.push('over') };
  const before = startAge(clock, limits, () => 0.5, events);
  before();
  clock.advance(200);
  expect(told).toEqual([]);
  const after = startAge(clock, limits, () => 0.5, events);
  clock.advance(100);
  after();
  clock.advance(200);
  expect(told).toEqual(['aged']);
});
