import { expect, test } from 'vitest';
import { createMac } from '../../src/auth/mac.ts';
import { MemoryBus } from '../../src/fanout/memory-bus.ts';
import { Entries } from '../../src/redis/entry.ts';
import { Inbox } from '../../src/redis/inbox.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

function opened() {
  const [clock, meter, log] = [fakeClock(), recordedMeter(), recordedLog()];
  const entries = new Entries('s', createMac(['a key of at least thirty-two bytes'], 'bus'));
  const inbox = new Inbox({ local: new MemoryBus(log), entries, identity: 'A'.repeat(22), clock, meter, log });
  const read = (number: number) => {
    const fields = entries.write({ from: 'B'.repeat(22), number, hint: { kind: 'tools', upstream: 'a' } });
    inbox.read({ id: '1-1', fields });
  };
  const gaps = () => meter.read('bus_gaps_total', {});
  const received = () => meter.read('bus_entries_total', { stage: 'received' });
  return { inbox, read, clock, log, gaps, received };
}

test('every gap is counted, and one line a minute says how many there were', () => {
  const { inbox, read, clock, log, gaps } = opened();
  for (let number = 1; number < 2000; number += 2) read(number);
  expect(gaps()).toBe(999);
  clock.advance(60_000);
  inbox.lost('trimmed');
  expect(log.lines).toEqual([
    { event: 'bus_gap', fields: { reason: 'missing', count: 1 } },
    { event: 'bus_gap', fields: { reason: 'trimmed', count: 999 } },
  ]);
});

test('what was heard before a loss is not heard again after it', () => {
  const { inbox, read, received, gaps } = opened();
  for (const number of [1, 2, 3]) read(number);
  inbox.lost('missing');
  for (const number of [1, 2, 3]) read(number);
  expect(received()).toBe(3);
  read(7);
  expect([received(), gaps()]).toEqual([4, 1]);
});
