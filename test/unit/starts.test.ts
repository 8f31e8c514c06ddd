import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Starts } from '../../src/upstream/starts.ts';
import { fakeClock } from '../support/fake-clock.ts';

const wanted = () => new AbortController().signal;

/** Starts at the given rate; `order` has what came of each turn asked for, in the order in which that was settled. */
function queue(perSecond: number) {
  const clock = fakeClock();
  const starts = new Starts(perSecond, clock);
  const order: string[] = [];
  const ask = (principal: string, signal = wanted()) =>
    starts.turn(principal, signal).then((got) => void order.push(`${got ? 'starts' : 'refused'} ${principal}`));
  const pass = async (ms: number) => {
    clock.advance(ms);
    await new Promise(setImmediate);
    return order.splice(0);
  };
  return { clock, starts, ask, pass };
}

test('so many start at once, the next a second after the first', async () => {
  const { ask, pass } = queue(2);
  for (const name of ['a', 'b', 'c', 'd']) void ask(name);
  expect(await pass(0)).toEqual(['starts a', 'starts b']);
  expect(await pass(999)).toEqual([]);
  expect(await pass(1)).toEqual(['starts c', 'starts d']);
});

test('principals take turns, however many starts one of them waits for', async () => {
  const { ask, pass } = queue(1);
  for (const name of ['a', 'a', 'a', 'b']) void ask(name);
  expect(await pass(0)).toEqual(['starts a']);
  expect(await pass(1000)).toEqual(['starts a']);
  expect(await pass(1000)).toEqual(['starts b']);
  expect(await pass(1000)).toEqual(['starts a']);
});

test('no more wait than can start in 3 s, and one who has most waiting makes room for others', async () => {
  const { ask, pass } = queue(1);
  for (const name of ['a', 'a', 'a', 'a', 'a']) void ask(name);
  expect(await pass(0)).toEqual(['starts a', 'refused a']);
  for (const name of ['b', 'b', 'c']) void ask(name);
  expect(await pass(0)).toEqual(['refused a', 'refused b', 'refused a']);
  expect(await pass(3000)).toEqual(['starts a', 'starts b', 'starts c']);
});

test('one who has waited for 3 s is refused, though others have started', async () => {
  const { ask, pass } = queue(1);
  void ask('a');
  for (const name of ['a', 'a', 'a']) void ask(name);
  await pass(1000);
  void ask('b');
  await pass(1000);
  void ask('c');
  expect(await pass(999)).toEqual([]);
  expect(await pass(1)).toEqual(['starts b', 'refused a']);
});

test('one who no longer wants to start leaves its turn to the next', async () => {
  const { ask, pass } = queue(1);
  const unwanted = new AbortController();
  void ask('a');
  void ask('b', unwanted.signal);
  void ask('c');
  unwanted.abort();
  expect(await pass(0)).toEqual(['starts a', 'refused b']);
  expect(await pass(1000)).toEqual(['starts c']);
});

test('never do more start within a second, and every turn asked for is settled within 3 s', async () => {
  const step = fc.record({ wait: fc.integer({ min: 0, max: 400 }), principal: fc.constantFrom('a', 'b', 'c') });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 40 }), async (perSecond, steps) => {
      const { clock, starts } = queue(perSecond);
      const started: number[] = [];
      let open = 0;
      for (const { wait, principal } of steps) {
        open += 1;
        void starts.turn(principal, wanted()).then((got) => {
          open -= 1;
          if (got) started.push(clock.elapsed());
        });
        await Promise.resolve();
        for (let ms = 0; ms <= wait; ms += 1) {
          clock.advance(1);
          await Promise.resolve();
        }
      }
      for (let ms = 0; ms <= 3000; ms += 1) {
        clock.advance(1);
        await Promise.resolve();
      }
      const crowded = started.filter((at, n) => at - (started[n - perSecond] ?? Number.NEGATIVE_INFINITY) < 1000);
      expect([crowded, open]).toEqual([[], 0]);
    }),
    { numRuns: 30 },
  );
});
