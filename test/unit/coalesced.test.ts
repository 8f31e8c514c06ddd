import { expect, it } from 'vitest';
import { Coalesced, type Updated } from '../../src/fanout/coalesced.ts';
import { fakeClock } from '../support/fake-clock.ts';

const updated = (at: number): Updated => ({ upstream: 'a', uri: `x://${at}` });

it('keeps 10,000 waiting at most, and tells of all sooner', () => {
  const told: Updated[] = [];
  const clock = fakeClock();
  const updates = new Coalesced(100, clock, (each) => told.push(each));
  for (let at = 0; at < 9_999; at += 1) updates.add(updated(at));
  expect(told).toHaveLength(0);
  updates.add(updated(9_999));
  expect(told).toHaveLength(10_000);
  clock.advance(100);
  expect(told).toHaveLength(10_000);
});

it('tells of nothing after it was closed: not of what comes, nor of the rest where it is closed from within', () => {
  const told: string[] = [];
  const clock = fakeClock();
  const updates = new Coalesced(100, clock, ({ uri }) => {
    told.push(uri);
    updates.close();
  });
  updates.add(updated(1));
  updates.add(updated(2));
  clock.advance(100);
  updates.add(updated(3));
  clock.advance(100);
  expect(told).toEqual(['x://1']);
});
