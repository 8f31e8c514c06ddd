import { expect, test } from 'vitest';
import { PendingTable } from '../../src/upstream/pending.ts';
import { fakeClock } from '../support/fake-clock.ts';

const WAITING = { answered() {}, failed() {}, progress() {} };
const LIMITS = { idle: 1000, hard: 5000 };

function table() {
  const clock = fakeClock();
  const expired: number[] = [];
  const pending = new PendingTable(clock, (id) => {
    pending.take(id);
    expired.push(id);
  });
  return { clock, expired, pending };
}

test('a request without progress is given up after its idle limit, one with progress only after its hard one', () => {
  const { clock, expired, pending } = table();
  const [silent, lively] = [pending.add(WAITING, LIMITS), pending.add(WAITING, LIMITS)];
  for (let passed = 0; passed < 4900; passed += 700) {
    clock.advance(700);
    pending.touch(lively);
  }
  expect(expired).toEqual([silent]);
  clock.advance(100);
  expect(expired).toEqual([silent, lively]);
});

test('while the upstream waits for somebody else only the hard limit counts, and the idle one starts anew afterwards', () => {
  const { clock, expired, pending } = table();
  const id = pending.add(WAITING, LIMITS);
  const goOn = pending.hold();
  clock.advance(3000);
  expect(expired).toEqual([]);
  goOn();
  clock.advance(900);
  expect(expired).toEqual([]);
  clock.advance(200);
  expect(expired).toEqual([id]);
  const held = pending.add(WAITING, LIMITS);
  pending.hold();
  clock.advance(5000);
  expect(expired).toEqual([id, held]);
});

test('ids are never reused, also not when the table has grown, and each is found under its own', () => {
  const { pending } = table();
  const ids = Array.from({ length: 300 }, () => pending.add(WAITING, LIMITS));
  expect(new Set(ids).size).toBe(300);
  for (const id of ids) expect(pending.take(id)).toBe(WAITING);
  for (const id of ids) expect(pending.take(id)).toBe(undefined);
  expect(pending.size).toBe(0);
  expect(ids).not.toContain(pending.add(WAITING, LIMITS));
});
