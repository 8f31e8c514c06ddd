import { expect, test } from 'vitest';
import { type Place, Places } from '../../src/upstream/places.ts';
import type { Spare } from '../../src/upstream/spares.ts';
import { fakeClock } from '../support/fake-clock.ts';

const PLACE = { free: expect.any(Function), leaves: expect.any(Function) };
const wanted = () => new AbortController().signal;

async function fullHouse(more: { end?: (first: Place) => void } = {}) {
  const clock = fakeClock();
  let count = 0;
  let spare = more.end;
  const taken = (now: number) => {
    count = now;
  };
  const places = new Places({ limit: 1, clock, taken, spare: () => spared() });
  const first = await places.take('p', wanted());
  if (first === undefined) throw new Error('no place');
  const spared = (): Spare | undefined => {
    const end = spare;
    spare = undefined;
    return end === undefined ? undefined : { principal: 'p', kind: 'own', since: 0, end: () => end(first) };
  };
  return { clock, places, first, taken: () => count };
}

test('a place is waited for 3 s, however long the close that should free it takes', async () => {
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const { clock, places, taken } = await fullHouse({ end: (first) => first.leaves(closed) });
  const waits = places.take('p', wanted());
  await new Promise(setImmediate);
  clock.advance(2999);
  const late = places.take('p', wanted());
  clock.advance(1);
  expect(await waits).toBeUndefined();
  await new Promise(setImmediate);
  close();
  expect([await late, taken()]).toEqual([PLACE, 1]);
});

test('a close that fails frees its place all the same', async () => {
  const { places, first, taken } = await fullHouse();
  first.leaves(Promise.reject(new Error('broken')));
  expect([await places.take('p', wanted()), taken()]).toEqual([PLACE, 1]);
});

test('one who no longer wants a place is told at once, and the next gets what was meant for it', async () => {
  const spared: string[] = [];
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const end = (first: Place) => {
    spared.push('one');
    first.leaves(closed);
  };
  const { places, taken } = await fullHouse({ end });
  const unwanted = new AbortController();
  const waits = places.take('p', unwanted.signal);
  await new Promise(setImmediate);
  unwanted.abort();
  expect(await waits).toBeUndefined();
  const next = places.take('p', wanted());
  await new Promise(setImmediate);
  close();
  expect([await next, spared, taken()]).toEqual([PLACE, ['one'], 1]);
});
