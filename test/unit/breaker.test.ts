import { expect, test } from 'vitest';
import { Breaker } from '../../src/upstream/breaker.ts';

const LIMITS = { failures: 3, open: 1000, maxOpen: 4000 };

function failing(breaker: Breaker, now: number): void {
  breaker.started();
  breaker.failed(now, 0);
}

test('opens after so many failures in a row, and attempts that fail together open it once', () => {
  const breaker = new Breaker(LIMITS);
  failing(breaker, 0);
  failing(breaker, 0);
  expect(breaker.wait(0)).toBe(0);
  for (let together = 0; together < 20; together += 1) failing(breaker, 0);
  expect(breaker.wait(0)).toBe(1000);
});

test('lets one trial at a time decide, and stays open twice as long after each that fails', () => {
  const breaker = new Breaker(LIMITS);
  for (let at = 0; at < 3; at += 1) failing(breaker, 0);
  expect(breaker.wait(1000)).toBe(0);
  breaker.started();
  expect(breaker.wait(1000)).toBe(1000);
  breaker.failed(1000, 0);
  expect(breaker.wait(1000)).toBe(2000);
  failing(breaker, 3000);
  failing(breaker, 7000);
  expect(breaker.wait(7000)).toBe(4000);
  breaker.started();
  breaker.connected();
  failing(breaker, 20_000);
  expect(breaker.wait(20_000)).toBe(0);
});

test('a trial that says nothing makes room for the next', () => {
  const breaker = new Breaker(LIMITS);
  for (let at = 0; at < 3; at += 1) failing(breaker, 0);
  breaker.started();
  breaker.abandoned();
  expect(breaker.wait(1000)).toBe(0);
});

test('waits a little less than it may, each time anew, so that many gateways do not knock together', () => {
  const waits = [0, 0.5, 0.999].map((random) => {
    const breaker = new Breaker({ ...LIMITS, failures: 1 });
    breaker.failed(0, random);
    return Math.round(breaker.wait(0));
  });
  expect(waits).toEqual([1000, 900, 800]);
});
