import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spread, waves } from '../../src/http/waves.ts';

const sockets = (busy: readonly boolean[]) => busy.map((isBusy, index) => ({ index, isBusy }));

test('500 sockets take ten seconds, 10,000 no more, ten a fifth of a second', () => {
  expect([500, 10_000, 10, 1, 0].map((count) => spread(count, 10_000))).toEqual([10_000, 10_000, 200, 20, 0]);
  expect(spread(500, 4000)).toBe(4000);
  expect(spread(500, 0)).toBe(0);
});

test('idle sockets go first, and each is as far from the next as any', () => {
  expect(waves(sockets([true, false, true, false]), 10_000)).toEqual([
    { socket: { index: 1, isBusy: false }, at: 0 },
    { socket: { index: 3, isBusy: false }, at: 20 },
    { socket: { index: 0, isBusy: true }, at: 40 },
    { socket: { index: 2, isBusy: true }, at: 60 },
  ]);
});

test('however many there are: each goes once, in time, no fewer than fifty a second, no idle one after a busy one', () => {
  const any = fc.array(fc.boolean(), { maxLength: 400 });
  fc.assert(
    fc.property(any, fc.integer({ min: 0, max: 60_000 }), (busy, longest) => {
      const planned = waves(sockets(busy), longest);
      expect(new Set(planned.map(({ socket }) => socket.index)).size).toBe(busy.length);
      expect(planned.map(({ at }) => at)).toEqual(planned.map(({ at }) => at).toSorted((a, b) => a - b));
      expect(planned.every(({ at }, index) => at <= longest && at <= index * 20 + 1e-6)).toBe(true);
      const firstBusy = planned.findIndex(({ socket }) => socket.isBusy);
      expect(planned.slice(firstBusy < 0 ? planned.length : firstBusy).every(({ socket }) => socket.isBusy)).toBe(true);
    }),
  );
});
