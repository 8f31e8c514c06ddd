import { expect, test } from 'vitest';
import { idlest, type Need, type Spare, spareInShares } from '../../src/upstream/spares.ts';

const NOW = 100_000;

const spare = (principal: string, kind: Spare['kind'], age: number): Spare => {
  return { principal, kind, since: NOW - age, end: () => {} };
};

/** `asker` needs a place; the others hold what is said here. */
function need(shares: Readonly<Record<string, number>>): Need {
  const held = new Map(Object.entries(shares));
  return { principal: 'asker', now: NOW, held: (principal) => held.get(principal) ?? 0 };
}

test('in shares, an idle link of whoever holds most goes first: one for single calls, then the one idle for longest', () => {
  const few = spare('few', 'leased', 9000);
  const own = spare('many', 'own', 8000);
  const young = spare('many', 'leased', 10);
  const old = spare('many', 'leased', 20);
  const of = need({ few: 1, many: 3 });
  expect(spareInShares([few, own, young, old], of)).toBe(old);
  expect(spareInShares([few, own], of)).toBe(own);
  expect(spareInShares([few], of)).toBe(few);
});

test('a parked call goes after every idle link, and of those that may go the one of whoever holds most', () => {
  const idle = spare('asker', 'own', 1);
  const parked = [spare('two', 'parked', 500), spare('three', 'parked', 400)];
  const of = need({ two: 2, three: 3 });
  expect(spareInShares([...parked, idle], of)).toBe(idle);
  expect(spareInShares(parked, of)).toBe(parked[1]);
});

test.each([
  ['another principal’s, where that evens out what they hold', 'other', 10, { other: 2 }, true],
  ['another principal’s that holds hardly more', 'other', 10, { other: 2, asker: 1 }, false],
  ['another principal’s that holds one', 'other', 59_999, { other: 1 }, false],
  ['another principal’s that has waited for a minute', 'other', 60_000, { other: 1 }, true],
  ['the asker’s own', 'asker', 59_999, { asker: 9 }, false],
  ['the asker’s own that has waited for a minute', 'asker', 60_000, { asker: 9 }, true],
] as const)('a parked call of %s', (_what, principal, age, shares, goes) => {
  const parked = spare(principal, 'parked', age);
  expect(spareInShares([parked], need(shares)) === parked).toBe(goes);
  expect(idlest([parked], need(shares)) === parked).toBe(goes);
});

test('the idlest of all is the one idle for longest, whatever it was for and whoever holds most', () => {
  const links = [spare('many', 'leased', 10), spare('few', 'own', 30), spare('many', 'own', 20)];
  expect(idlest([...links, spare('many', 'parked', 99_000)], need({ many: 3, few: 1 }))).toBe(links[1]);
});
