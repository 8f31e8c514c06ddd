import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstLook, judge, type Look, type Waiting } from '../../src/transport/sign-of-life.ts';

const PONG = 1000;
const SILENT = { received: false, taken: false, backlog: false, paused: false };

/** How long after its ping a peer is lost, where the nth look finds this, so many milliseconds late; undefined: never. */
function lostAfter(look: (n: number, now: number) => Partial<Look> & { readonly late?: number }): number | undefined {
  let waiting: Waiting = { since: 0, backlog: false, overdue: false };
  let due = firstLook(PONG);
  for (let n = 1; n <= 200; n += 1) {
    const { late = 0, ...found } = look(n, due);
    const now = due + late;
    const verdict = judge(waiting, { ...SILENT, ...found, now, due }, PONG);
    if (verdict === 'alive') return undefined;
    if (verdict === 'lost') return now;
    waiting = verdict.waiting;
    due = now + verdict.nextInMs;
  }
  return undefined;
}

describe('a peer that shows no sign of life', () => {
  test('is lost after exactly its time', () => {
    expect(lostAfter(() => ({}))).toBe(1000);
  });

  test('is lost after that though the gateway goes on writing to it, as long as the system takes it all', () => {
    expect(lostAfter(() => ({ taken: true }))).toBe(1000);
  });

  test('is lost as soon as its backlog stands still for that time', () => {
    expect(lostAfter((n) => ({ backlog: true, taken: n < 20 }))).toBe(19 * 250 + 1000);
  });

  test('is lost after that time once it is read from again', () => {
    expect(lostAfter((n) => ({ paused: n <= 40 }))).toBe(40 * 250 + 1000);
  });

  test('is lost in the end though every look is late', () => {
    expect(lostAfter(() => ({ late: 400 }))).toBeLessThan(1000 + 6 * 400 + 400);
  });
});

describe('is not lost', () => {
  test('who has sent a byte, be the look as late as it may', () => {
    expect(lostAfter((n) => ({ received: n === 5, late: n === 5 ? 60_000 : 300 }))).toBeUndefined();
  });

  test('whose backlog shrinks, or who is not read from', () => {
    expect(lostAfter(() => ({ backlog: true, taken: true }))).toBeUndefined();
    expect(lostAfter(() => ({ paused: true }))).toBeUndefined();
  });

  test('who has answered while the event loop was blocked, whenever it was and however long', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 21, max: 100_000 }), (blocked, late) => {
        // The pong is in the system's buffer when the block ends, and is read before the look after that.
        expect(lostAfter((n) => ({ received: n > blocked, late: n === blocked ? late : 0 }))).toBeUndefined();
      }),
    );
  });
});

test('whatever the lag, a silent peer has its whole time of an event loop that turns, and little more', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 200, maxLength: 200 }), (lags) => {
      const lag = (n: number) => lags[n - 1] ?? 0;
      let sum = 0;
      const lost = lostAfter((n) => {
        sum += lag(n);
        return { late: lag(n) };
      });
      expect(lost).toBeGreaterThanOrEqual(PONG);
      // The looks themselves, their lateness, and one more look after a late one.
      expect(lost).toBeLessThanOrEqual(2 * PONG + sum);
      expect((lost ?? 0) - sum).toBeGreaterThanOrEqual(PONG - Math.max(...lags));
    }),
  );
});
