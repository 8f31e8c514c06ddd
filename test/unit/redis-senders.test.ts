import { expect, test } from 'vitest';
import { Senders } from '../../src/redis/senders.ts';

test('entries of a process follow on each other', () => {
  const senders = new Senders();
  const heard = (from: string, ...numbers: number[]) => numbers.map((number) => senders.heard(from, number));
  expect(heard('a', 5, 6, 7)).toEqual(['next', 'next', 'next']);
  expect(heard('b', 1, 2)).toEqual(['next', 'next']);
  expect(heard('a', 7, 5)).toEqual(['again', 'again']);
  expect(heard('a', 9, 10, 8)).toEqual(['missing', 'next', 'again']);
});

test('after a loss of any it is unknown what is next, but not what was heard before', () => {
  const senders = new Senders();
  senders.heard('a', 5);
  senders.heard('b', 5);
  senders.passOver();
  expect([5, 9, 9, 10, 12].map((number) => senders.heard('a', number))).toEqual([
    'again',
    'next',
    'again',
    'next',
    'missing',
  ]);
  expect(senders.heard('b', 6)).toBe('next');
});

test('of more than 1,000 the one heard least lately is forgotten', () => {
  const senders = new Senders();
  for (let at = 0; at < 1000; at += 1) senders.heard(`p${at}`, 1);
  senders.heard('p0', 2);
  senders.heard('new', 1);
  expect([senders.heard('p0', 2), senders.heard('p2', 1), senders.heard('p1', 1)]).toEqual(['again', 'again', 'next']);
});
