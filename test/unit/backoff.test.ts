import { expect, test } from 'vitest';
import { backoff } from '../../src/upstream/backoff.ts';

test('waits double from half a second to half a minute, each less by up to half', () => {
  const failures = [0, 1, 2, 3, 6, 7, 8, 1000];
  expect(failures.map((count) => backoff(count, 1))).toEqual([500, 500, 1000, 2000, 16_000, 30_000, 30_000, 30_000]);
  expect(failures.map((count) => backoff(count, 0))).toEqual([250, 250, 500, 1000, 8000, 15_000, 15_000, 15_000]);
});
