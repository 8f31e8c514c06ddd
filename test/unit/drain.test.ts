import { expect, test } from 'vitest';
import { Drain, type Drainable } from '../../src/http/drain.ts';
import { fakeClock } from '../support/fake-clock.ts';

const TIMING = { notice: 0, inFlight: 1000, waves: 200 };

/** Sessions that close when they are told to and have nothing in flight; `told` is what was said to them, with the time. */
function draining(timing: typeof TIMING, busy: readonly boolean[]) {
  const clock = fakeClock();
  const told: string[] = [];
  const open = new Set<Drainable>();
  const waiters = new Set<() => void>();
  const sessions = {
    get size() {
      return open.size;
    },
    [Symbol.iterator]: () => open.values(),
    whenEmpty: (task: () => void) => {
      waiters.add(task);
      return () => waiters.delete(task);
    },
  };
  const gone = (session: Drainable) => {
    open.delete(session);
    if (open.size === 0) for (const waiter of [...waiters]) waiter();
  };
  const say = (name: number, what: string) => told.push(`${clock.elapsed()} ${name} ${what}`);
  for (const [name, isBusy] of busy.entries()) {
    const session = {
      isBusy,
      drain: () => {
        say(name, 'drain');
        if (!session.isBusy) gone(session);
      },
      drainOver: () => {
        say(name, 'over');
        gone(session);
      },
    };
    open.add(session);
  }
  const drain = new Drain({ sessions, clock, timing });
  let isOver = false;
  void drain.run().then(() => {
    isOver = true;
  });
  const settled = () => new Promise(setImmediate);
  /** Lets time pass a millisecond at a time, and with each what waits for it. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 1) {
      clock.advance(1);
      await settled();
    }
  };
  return { drain, told, pass, settled, isOver: () => isOver };
}

test('without sockets it is over at once', async () => {
  const { drain, settled, isOver } = draining(TIMING, []);
  expect(drain.isRefusing).toBe(true);
  await settled();
  expect(isOver()).toBe(true);
});

test('during the notice only readiness goes, with sockets or without', async () => {
  const { drain, told, pass, isOver } = draining({ ...TIMING, notice: 50 }, [false]);
  await pass(49);
  expect([drain.isTold, drain.isRefusing, told]).toEqual([true, false, []]);
  await pass(2);
  expect([drain.isRefusing, told, isOver()]).toEqual([true, ['50 0 drain'], true]);
  const empty = draining({ ...TIMING, notice: 50 }, []);
  await empty.pass(49);
  expect([empty.drain.isRefusing, empty.isOver()]).toEqual([false, false]);
  await empty.pass(2);
  expect(empty.isOver()).toBe(true);
});

test('idle ones go in their turn, busy ones after them, and what outlasts its time has it from its turn on', async () => {
  const { told, pass, isOver } = draining(TIMING, [true, false, true, false, true]);
  await pass(1039);
  expect(told).toEqual(['0 1 drain', '20 3 drain', '40 0 drain', '60 2 drain', '80 4 drain']);
  await pass(41);
  expect(told.slice(5)).toEqual(['1040 0 over', '1060 2 over', '1080 4 over']);
  expect(isOver()).toBe(true);
});

test('whoever has its turn when the time of the first calls is over has that time all the same', async () => {
  const timing = { notice: 0, inFlight: 35, waves: 100 };
  const { told, pass, isOver } = draining(timing, [...Array<boolean>(9).fill(false), true]);
  await pass(124);
  expect(told.map((line) => line.split(' ')[0])).toEqual(['0', '10', '20', '30', '40', '50', '60', '70', '80', '90']);
  await pass(2);
  expect(told.slice(10)).toEqual(['125 9 over']);
  expect(isOver()).toBe(true);
});

test.each([5, 500])('forced after %s ms, it ends every session at that moment', async (ms) => {
  const { drain, told, pass, settled, isOver } = draining({ notice: 10, inFlight: 1000, waves: 200 }, [true, true]);
  await pass(ms);
  drain.force();
  await settled();
  expect(told.filter((line) => line.endsWith('over'))).toEqual([`${ms} 0 over`, `${ms} 1 over`]);
  expect([drain.isRefusing, isOver()]).toEqual([true, true]);
});

test('who joins when nothing is let in any more goes at once', async () => {
  const { drain, pass } = draining({ ...TIMING, notice: 10 }, [true]);
  const said: string[] = [];
  const late = { isBusy: false, drain: () => said.push('drain'), drainOver: () => {} };
  drain.joined(late);
  expect(said).toEqual([]);
  await pass(10);
  drain.joined(late);
  expect(said).toEqual(['drain']);
});
