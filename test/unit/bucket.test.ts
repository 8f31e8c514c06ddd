import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Bucket } from '../../src/policy/bucket.ts';
import { Recent } from '../../src/session/recent.ts';

describe('a bucket', () => {
  test('holds its burst at once, also in fifths, and then fills at its rate', () => {
    const bucket = new Bucket({ rate: 100, burst: 200 });
    const takes = Array.from({ length: 1000 }, () => bucket.take(0.2, 12_345.678));
    expect(takes.filter((wait) => wait > 0)).toEqual([]);
    expect(bucket.take(1, 12_345.678)).toBeCloseTo(10);
    expect(bucket.take(1, 12_355.678)).toBe(0);
    expect(bucket.take(1, 12_355.678)).toBeCloseTo(10);
  });

  test('says the real wait, and what is refused costs nothing', () => {
    const bucket = new Bucket({ rate: 2, burst: 1 });
    expect(bucket.take(1, 0)).toBe(0);
    expect([bucket.take(1, 100), bucket.take(1, 100), bucket.take(1, 499)]).toEqual([400, 400, 1]);
    expect(bucket.take(1, 500)).toBe(0);
  });

  test('is full again when it says so, and holds no more however long that is past', () => {
    const bucket = new Bucket({ rate: 10, burst: 5 });
    for (let n = 0; n < 5; n += 1) bucket.take(1, 0);
    expect([bucket.fullIn(0), bucket.fullIn(499), bucket.fullIn(500), bucket.fullIn(9000)]).toEqual([500, 1, 0, 0]);
    const takes = Array.from({ length: 7 }, () => bucket.take(1, 9000) === 0);
    expect(takes).toEqual([true, true, true, true, true, false, false]);
  });

  test('that is charged owes at most what it holds', () => {
    const bucket = new Bucket({ rate: 10, burst: 5 });
    expect([bucket.charge(5, 0), bucket.charge(1, 0)]).toEqual([true, false]);
    for (let n = 0; n < 1000; n += 1) bucket.charge(1, 0);
    expect([bucket.fullIn(0), bucket.take(1, 0)]).toEqual([1000, 600]);
  });

  test('says a wait that nobody takes', () => {
    const bucket = new Bucket({ rate: 2, burst: 1 });
    expect([bucket.wait(1, 0), bucket.wait(1, 0), bucket.take(1, 0), bucket.wait(1, 100)]).toEqual([0, 0, 0, 400]);
  });

  test('gives all it holds for what costs more', () => {
    const bucket = new Bucket({ rate: 10, burst: 2 });
    expect([bucket.take(5, 0), bucket.take(5, 199), bucket.take(5, 200)]).toEqual([0, 1, 0]);
  });
});

describe('whatever comes whenever', () => {
  const rate = fc.record({ rate: fc.integer({ min: 1, max: 1000 }), burst: fc.integer({ min: 5, max: 500 }) });
  const step = fc.record({ after: fc.nat(2000), cost: fc.constantFrom(0.2, 1, 5), times: fc.nat(100) });
  interface Taken {
    readonly at: number;
    readonly cost: number;
  }

  /** What was let through, and when. */
  function play(
    limit: { rate: number; burst: number },
    steps: readonly { after: number; cost: number; times: number }[],
  ) {
    const bucket = new Bucket(limit);
    const taken: Taken[] = [];
    let at = 0;
    for (const { after, cost, times } of steps) {
      at += after;
      for (let n = 0; n < times; n += 1) if (bucket.take(cost, at) === 0) taken.push({ at, cost });
    }
    return { bucket, taken, at };
  }

  test('in no stretch of time is more let through than the burst and the rate of that time', () => {
    fc.assert(
      fc.property(rate, fc.array(step, { maxLength: 20 }), (limit, steps) => {
        const { taken } = play(limit, steps);
        const starts = [...new Set(taken.map(({ at }) => at))];
        const excess = starts.flatMap((from) => {
          let sum = 0;
          return taken
            .filter(({ at }) => at >= from)
            .map(({ at, cost }) => {
              sum += cost;
              return sum - limit.burst - ((at - from) * limit.rate) / 1000;
            });
        });
        expect(Math.max(0, ...excess)).toBeLessThan(0.01);
      }),
    );
  });

  test('after the wait it is told each is let through, and a millisecond before it not', () => {
    fc.assert(
      fc.property(rate, fc.array(step, { maxLength: 20 }), fc.constantFrom(0.2, 1, 5), (limit, steps, cost) => {
        const { bucket, at } = play(limit, steps);
        const wait = bucket.take(cost, at);
        const early = wait > 1 ? bucket.take(cost, at + wait - 1) : 1;
        expect(early).toBeCloseTo(1);
        expect(wait === 0 ? 0 : bucket.take(cost, at + wait)).toBe(0);
      }),
    );
  });
});

test('so many within a time are found, and one fewer or a little longer is not', () => {
  const recent = new Recent(3, 100);
  expect([0, 60, 100, 161, 162, 400].map((at) => recent.add(at))).toEqual([false, false, true, false, true, false]);
});
