import { expect, test } from 'vitest';
import { principalOf } from '../../src/auth/principal.ts';
import { Rates } from '../../src/session/rates.ts';
import { fakeClock } from '../support/fake-clock.ts';

const LIMIT = { rate: 10, burst: 5 };
const caller = (id: string, issuer = 'a') =>
  principalOf(
    { issuer, id, roles: [], scopes: [], claims: {}, expiresAt: null },
    { address: '127.0.0.1', via: 'websocket' },
  );

test('the sockets of one principal share a bucket, those of equal subjects of two issuers do not', () => {
  const rates = new Rates(LIMIT, fakeClock());
  const bucket = rates.hold(caller('alice')).bucket;
  expect(rates.hold(caller('alice')).bucket).toBe(bucket);
  expect(rates.hold(caller('alice', 'b')).bucket).not.toBe(bucket);
  expect(rates.size).toBe(2);
});

test('without a rate there is nothing to keep', () => {
  const rates = new Rates(null, fakeClock());
  const held = rates.hold(caller('alice'));
  held.release();
  expect([held.bucket, rates.size]).toEqual([undefined, 0]);
});

test('a full bucket goes with the last session, any other when it is full', () => {
  const clock = fakeClock();
  const rates = new Rates(LIMIT, clock);
  const [first, second, idle] = [rates.hold(caller('alice')), rates.hold(caller('alice')), rates.hold(caller('bob'))];
  first.bucket?.take(5, clock.elapsed());
  idle.release();
  first.release();
  expect(rates.size).toBe(1);
  second.release();
  clock.advance(499);
  expect(rates.size).toBe(1);
  clock.advance(1);
  expect(rates.size).toBe(0);
});

test('whoever comes back meanwhile has the bucket it left, and keeps it', () => {
  const clock = fakeClock();
  const rates = new Rates(LIMIT, clock);
  const first = rates.hold(caller('alice'));
  first.bucket?.take(5, clock.elapsed());
  first.release();
  clock.advance(200);
  const again = rates.hold(caller('alice'));
  expect(again.bucket).toBe(first.bucket);
  clock.advance(10_000);
  expect(rates.size).toBe(1);
  again.release();
  expect(rates.size).toBe(0);
});

test('no more than 65,536 rest at a time, and closing forgets all', () => {
  const clock = fakeClock();
  const rates = new Rates(LIMIT, clock);
  for (let n = 0; n < 65_540; n += 1) {
    const held = rates.hold(caller(`${n}`));
    held.bucket?.take(1, clock.elapsed());
    held.release();
  }
  expect(rates.size).toBe(65_536);
  rates.close();
  expect(rates.size).toBe(0);
});
