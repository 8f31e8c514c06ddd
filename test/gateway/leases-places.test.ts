import { expect, test } from 'vitest';
import { Places } from '../../src/upstream/places.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedMeter } from '../support/recorded.ts';

const LABELS = { upstream: 'up', isolation: 'session' } as const;
const wanted = () => new AbortController().signal;

async function fullHouse() {
  const clock = fakeClock();
  const meter = recordedMeter();
  const places = new Places({ maxLinks: 1, clock, links: meter.gauge('links', LABELS) });
  await places.take(wanted());
  return { clock, places, taken: () => meter.read('links', LABELS) };
}

test('a place is waited for 3 s, however long the close that should free it takes', async () => {
  const { clock, places, taken } = await fullHouse();
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  places.spare('own', () => {
    places.leaves(closed);
    return true;
  });
  const waits = places.take(wanted());
  await new Promise(setImmediate);
  clock.advance(2999);
  const late = places.take(wanted());
  clock.advance(1);
  expect(await waits).toBe(false);
  await new Promise(setImmediate);
  close();
  expect([await late, taken()]).toEqual([true, 1]);
});

test('a close that fails frees its place all the same', async () => {
  const { places, taken } = await fullHouse();
  places.leaves(Promise.reject(new Error('broken')));
  expect([await places.take(wanted()), taken()]).toEqual([true, 1]);
});

test('one who no longer wants a place is told at once, and the next gets what was meant for it', async () => {
  const { places, taken } = await fullHouse();
  const spared: string[] = [];
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  places.spare('leased', () => {
    if (spared.push('one') === 1) places.leaves(closed);
    return spared.length === 1;
  });
  const unwanted = new AbortController();
  const waits = places.take(unwanted.signal);
  await new Promise(setImmediate);
  unwanted.abort();
  expect(await waits).toBe(false);
  const next = places.take(wanted());
  await new Promise(setImmediate);
  close();
  expect([await next, spared, taken()]).toEqual([true, ['one'], 1]);
});
