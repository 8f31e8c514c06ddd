import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Spent } from '../../src/auth/spent.ts';
import { fakeClock } from '../support/fake-clock.ts';

test('a nonce is spent once', () => {
  const clock = fakeClock();
  const spent = new Spent(clock, 65_536);
  const soon = clock.now() + 1_000;
  expect([spent.spend('a', soon), spent.spend('a', soon), spent.spend('b', soon)]).toEqual([true, false, true]);
});

test('what served nothing may be spent once more, also beside others that expire with it', () => {
  const clock = fakeClock();
  const spent = new Spent(clock, 65_536);
  const soon = clock.now() + 1_000;
  for (const nonce of ['a', 'b', 'c']) spent.spend(nonce, soon);
  spent.forgive('b', soon);
  spent.forgive('unknown', soon);
  expect(['a', 'b', 'b', 'c'].map((nonce) => spent.spend(nonce, soon))).toEqual([false, true, false, false]);
  clock.advance(1_000);
  expect([spent.spend('d', soon + 1_000), spent.size]).toEqual([true, 1]);
});

test('what has expired is not spent, and not remembered', () => {
  const clock = fakeClock();
  const spent = new Spent(clock, 65_536);
  const at = clock.now();
  spent.spend('a', at + 1);
  spent.spend('b', at + 2);
  clock.advance(1);
  expect([spent.spend('a', at + 1), spent.spend('c', at + 1), spent.size]).toEqual([false, false, 1]);
  clock.advance(1);
  expect([spent.spend('b', at + 2), spent.size]).toEqual([false, 0]);
});

test('a wall clock that is set back brings nothing to life', () => {
  const clock = fakeClock();
  let back = 0;
  const spent = new Spent({ ...clock, now: () => clock.now() - back }, 65_536);
  const soon = clock.now() + 1_000;
  spent.spend('a', soon);
  clock.advance(1_000);
  spent.spend('b', soon + 1_000);
  back = 500;
  expect([spent.spend('a', soon), spent.spend('c', soon + 1)]).toEqual([false, true]);
});

describe('when it is full', () => {
  test('the one that expires first is dropped, and whatever expires no later is refused', () => {
    const clock = fakeClock();
    const spent = new Spent(clock, 2);
    const at = clock.now();
    expect(['a', 'b', 'c'].map((nonce, index) => spent.spend(nonce, at + 10 + index))).toEqual([true, true, true]);
    expect(spent.size).toBe(2);
    expect([spent.spend('a', at + 10), spent.spend('unused', at + 10), spent.spend('b', at + 11)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(spent.spend('d', at + 11)).toBe(true);
  });

  test('it holds 65,536', () => {
    const clock = fakeClock();
    const spent = new Spent(clock, 65_536);
    const soon = clock.now() + 1_000;
    for (let at = 0; at < 65_536; at++) spent.spend(`${at}`, soon + at);
    expect(spent.spend('0', soon)).toBe(false);
    expect([spent.spend('x', soon + 70_000), spent.size]).toEqual([true, 65_536]);
    expect(spent.spend('unused', soon)).toBe(false);
  });
});

describe('whatever is spent in whatever order', () => {
  const CAPACITY = 4;
  const START = fakeClock().now();
  /** A sealed text has one expiry: text number n expires after `LIVES[n]`. */
  const LIVES = [5, 5, 10, 10, 15, 20, 20, 30, 40, 1_000].map((life) => START + life);
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ spend: fc.nat(LIVES.length - 1) }) },
    { weight: 1, arbitrary: fc.record({ advance: fc.nat(6) }) },
  );
  type Step = { readonly spend: number } | { readonly advance: number };

  /** The texts that were spent with success, and those refused, in order, beside what was then remembered. */
  function play(steps: readonly Step[], capacity: number) {
    const clock = fakeClock();
    const spent = new Spent(clock, capacity);
    const sizes: number[] = [];
    const tries: { nonce: number; took: boolean; live: boolean }[] = [];
    for (const each of steps) {
      if ('advance' in each) clock.advance(each.advance);
      else {
        const expiresAt = LIVES[each.spend] ?? 0;
        const took = spent.spend(`${each.spend}`, expiresAt);
        tries.push({ nonce: each.spend, took, live: expiresAt > clock.now() });
      }
      sizes.push(spent.size);
    }
    return { tries, sizes, taken: tries.filter(({ took }) => took).map(({ nonce }) => nonce) };
  }

  test('none is spent twice, and no more than it holds is remembered', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { taken, sizes } = play(steps, CAPACITY);
        expect(new Set(taken).size).toBe(taken.length);
        expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(CAPACITY);
      }),
    );
  });

  test('with room for all, each is spent at its first try before it expires', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { tries, taken } = play(steps, LIVES.length);
        const firsts = new Set(tries.filter(({ live }) => live).map(({ nonce }) => nonce));
        expect(new Set(taken)).toEqual(firsts);
      }),
    );
  });

  test('a full memory refuses only what expires no later than something that was spent', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { tries } = play(steps, CAPACITY);
        const refused = tries.filter(({ took, live }, index) => !took && live && !seenBefore(tries, index));
        const excused = refused.filter(({ nonce }) => tries.some((each) => each.took && later(each.nonce, nonce)));
        expect(refused).toEqual(excused);
      }),
    );
  });

  function seenBefore(tries: readonly { readonly nonce: number }[], index: number): boolean {
    return tries.slice(0, index).some(({ nonce }) => nonce === tries[index]?.nonce);
  }

  function later(one: number, other: number): boolean {
    return (LIVES[one] ?? 0) >= (LIVES[other] ?? 0);
  }
});
