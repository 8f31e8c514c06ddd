import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Pace } from '../../src/session/pace.ts';
import { fakeClock } from '../support/fake-clock.ts';

function paced(ms = 100) {
  const clock = fakeClock();
  const told: [number, string][] = [];
  const pace = new Pace(ms, clock, (key) => told.push([clock.elapsed(), key]));
  return { clock, told, pace };
}

it('tells at once, then once when its time is over, however often it was heard meanwhile', () => {
  const { clock, told, pace } = paced();
  for (const wait of [0, 10, 20, 30]) {
    clock.advance(wait);
    pace.heard('a');
  }
  pace.heard('b');
  clock.advance(1000);
  expect(told).toEqual([
    [0, 'a'],
    [60, 'b'],
    [100, 'a'],
  ]);
  pace.heard('a');
  expect(told.at(-1)).toEqual([1060, 'a']);
});

it('tells of everything at once without a time', () => {
  const { told, pace } = paced(0);
  for (const key of ['a', 'a', 'b']) pace.heard(key);
  expect(told.map(([, key]) => key)).toEqual(['a', 'a', 'b']);
});

it('tells nothing after it was closed', () => {
  const { clock, told, pace } = paced();
  pace.heard('a');
  pace.heard('a');
  pace.close();
  clock.advance(1000);
  expect(told).toEqual([[0, 'a']]);
});

it('follows whatever was heard with word of it within its time, and never says two within it', () => {
  const heard = fc.array(fc.tuple(fc.nat(150), fc.constantFrom('a', 'b', 'c')), { maxLength: 100 });
  fc.assert(
    fc.property(heard, (steps) => {
      const { clock, told, pace } = paced();
      const times: [number, string][] = [];
      for (const [wait, key] of steps) {
        clock.advance(wait);
        times.push([clock.elapsed(), key]);
        pace.heard(key);
      }
      clock.advance(100);
      for (const [at, key] of times) {
        expect(told.some(([when, what]) => what === key && when >= at && when <= at + 100)).toBe(true);
      }
      for (const key of ['a', 'b', 'c']) {
        const own = told.flatMap(([when, what]) => (what === key ? [when] : []));
        expect(own.every((when, index) => index === 0 || when - (own[index - 1] ?? 0) >= 100)).toBe(true);
      }
    }),
  );
});
