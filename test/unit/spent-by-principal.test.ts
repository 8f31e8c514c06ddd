import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SpentByPrincipal } from '../../src/auth/spent-by-principal.ts';
import { fakeClock } from '../support/fake-clock.ts';

function spending(bounds?: { each: number; all: number }) {
  const clock = fakeClock();
  return { clock, start: clock.now(), spent: new SpentByPrincipal(clock, bounds) };
}

test('two who spend 100 a second for ten minutes take nothing from a third', () => {
  const { clock, start, spent } = spending();
  for (let n = 0; n < 120_000; n += 1) {
    if (n % 200 === 0) clock.advance(1000);
    spent.spend(n % 2 === 0 ? 'alice' : 'bob', `${n}`, clock.now() + 600_000);
  }
  expect(spent.spend('carol', 'unused', start + 600_001)).toBe(true);
  expect(spent.spend('carol', 'unused', start + 600_001)).toBe(false);
  expect(spent.size).toBe(120_001);
});

test('who has spent more than is remembered of one has its own unused texts refused, and nobody else’s', () => {
  const { start, spent } = spending({ each: 3, all: 100 });
  for (const n of [1, 2, 3, 4]) spent.spend('alice', `${n}`, start + n);
  expect(spent.spend('alice', 'unused', start + 1)).toBe(false);
  expect(spent.spend('bob', 'unused', start + 1)).toBe(true);
});

test('when there is too much of all, whoever has most forgets', () => {
  const { start, spent } = spending({ each: 10, all: 5 });
  spent.spend('bob', 'b', start + 1);
  for (const n of [1, 2, 3, 4, 5]) spent.spend('alice', `${n}`, start + n);
  expect(spent.size).toBe(5);
  expect(spent.spend('bob', 'unused', start + 1)).toBe(true);
  expect(spent.size).toBe(5);
  expect(spent.spend('alice', 'unused', start + 2)).toBe(false);
  expect(spent.spend('bob', 'b', start + 1)).toBe(false);
});

test('what served nothing may be spent once more, by the same', () => {
  const { start, spent } = spending();
  spent.spend('alice', 'a', start + 10);
  spent.forgive('bob', 'a', start + 10);
  expect(spent.spend('alice', 'a', start + 10)).toBe(false);
  spent.forgive('alice', 'a', start + 10);
  expect([spent.spend('alice', 'a', start + 10), spent.size]).toEqual([true, 1]);
});

test('a memory goes when all that is in it has expired', () => {
  const { clock, spent } = spending();
  for (let n = 0; n < 1000; n += 1) spent.spend(`once ${n}`, 'n', clock.now() + 1000);
  expect([spent.principals, spent.size]).toEqual([1000, 1000]);
  clock.advance(1000);
  for (let n = 0; n < 1000; n += 1) spent.spend('alice', `${n}`, clock.now() + 1000);
  expect([spent.principals, spent.size]).toEqual([1, 1000]);
});

test('a wall clock that is set back brings nothing to life, also of a memory that went', () => {
  const clock = fakeClock();
  let back = 0;
  const spent = new SpentByPrincipal({ ...clock, now: () => clock.now() - back });
  const soon = clock.now() + 1000;
  spent.spend('alice', 'a', soon);
  clock.advance(1000);
  spent.spend('bob', 'b', soon + 1000);
  expect(spent.principals).toBe(1);
  back = 500;
  expect(spent.spend('alice', 'a', soon)).toBe(false);
});

test('whoever spends what in whatever order, nothing is spent twice, and no more is remembered than may be', () => {
  const step = fc.record({ who: fc.constantFrom('a', 'b', 'c', 'd'), what: fc.nat(9), after: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const { clock, start, spent } = spending({ each: 4, all: 6 });
      const taken: string[] = [];
      for (const { who, what, after } of steps) {
        clock.advance(after);
        if (spent.spend(who, `${what}`, start + 5 * what)) taken.push(`${who} ${what}`);
        expect(spent.size).toBeLessThanOrEqual(6);
      }
      expect(new Set(taken).size).toBe(taken.length);
    }),
  );
});
