import { expect, test } from 'vitest';
import { AnsweredError, Fault } from '../../src/protocol/errors.ts';
import { KeptSubscriptions } from '../../src/session/kept-subscriptions.ts';
import { watchedClock } from '../support/heard-channel.ts';
import { recordedLog } from '../support/recorded.ts';

const ONE = 'note://one';
const TWO = 'note://two';
const down = new Fault('upstream_unavailable');
const refusal = new AnsweredError({ code: -32051, message: 'closed shelf' });

/** Kept subscriptions whose owner is in the test's hand: `asked` is all it was told, `end` ends what was told last. */
function keeping(maxWarnings = 8) {
  const clock = watchedClock();
  const asked: string[] = [];
  const warned: unknown[] = [];
  const late: string[] = [];
  const ends: ((cause?: Error) => void)[] = [];
  const operation = (what: string) => (uri: string) => {
    asked.push(`${what} ${uri}`);
    return new Promise<void>((resolve, reject) => {
      ends.push((cause) => (cause === undefined ? resolve() : reject(cause)));
    });
  };
  const kept = new KeptSubscriptions({
    subscribe: operation('subscribe'),
    unsubscribe: operation('unsubscribe'),
    late: (uri) => void late.push(uri),
    clock,
    jitter: 1,
    maxWarnings,
    log: { ...recordedLog(), warn: (event, fields) => void warned.push([event, fields]) },
  });
  const end = async (cause?: Error) => {
    ends.at(-1)?.(cause);
    await new Promise(setImmediate);
  };
  return { kept, clock, asked, warned, late, end };
}

test('what is dropped while it is being subscribed to is ended after that, and forgotten', async () => {
  const { kept, asked, end } = keeping();
  kept.want(ONE);
  kept.drop(ONE);
  expect([asked, kept.leaving, kept.isLeaving(ONE)]).toEqual([[`subscribe ${ONE}`], 1, true]);
  await end();
  expect([asked.slice(1), kept.leaving]).toEqual([[`unsubscribe ${ONE}`], 1]);
  await end();
  expect([asked.length, kept.leaving]).toEqual([2, 0]);
});

test('of many wishes during one operation the last one counts', async () => {
  const { kept, asked, end } = keeping();
  for (let round = 0; round < 5; round += 1) {
    kept.want(ONE);
    kept.drop(ONE);
  }
  kept.want(ONE);
  await end();
  expect([asked, kept.leaving]).toEqual([[`subscribe ${ONE}`], 0]);
  kept.drop(ONE);
  kept.want(ONE);
  expect(asked.slice(1)).toEqual([`unsubscribe ${ONE}`]);
  await end();
  expect(asked.slice(2)).toEqual([`subscribe ${ONE}`]);
});

test('a fault is tried again after 1 s doubling to 30 s, told of once; what it misses meanwhile is one update', async () => {
  const { kept, clock, asked, warned, late, end } = keeping();
  const waits: number[] = [];
  kept.want(ONE);
  for (let attempt = 0; attempt < 7; attempt += 1) {
    await end(down);
    waits.push(...clock.waits());
    clock.advance(30_000);
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect([asked.length, late]).toEqual([8, []]);
  await end();
  expect(late).toEqual([ONE]);
  expect(warned).toEqual([['listen_failed', { uri: ONE, reason: 'upstream_unavailable' }]]);
  expect(clock.waits()).toEqual([]);
});

test('what is dropped before it is tried again is not tried again', async () => {
  const { kept, clock, asked, end } = keeping();
  kept.want(ONE);
  await end(down);
  kept.drop(ONE);
  expect([clock.waits(), kept.leaving]).toEqual([[], 0]);
  kept.want(TWO);
  kept.drop(TWO);
  await end(down);
  expect([clock.waits(), kept.leaving, asked]).toEqual([[], 0, [`subscribe ${ONE}`, `subscribe ${TWO}`]]);
});

test('what its owner refuses is told of once and asked for again only when it is wanted anew', async () => {
  const { kept, clock, asked, warned, late, end } = keeping();
  kept.want(ONE);
  await end(refusal);
  expect([clock.waits(), warned]).toEqual([[], [['listen_failed', { uri: ONE, reason: 'error -32051' }]]]);
  kept.want(ONE);
  await end(refusal);
  kept.drop(ONE);
  kept.want(ONE);
  await end();
  expect([asked.length, warned.length, late]).toEqual([3, 1, []]);
});

test('an unsubscribe that fails is told of and over', async () => {
  const { kept, asked, warned, end } = keeping();
  kept.want(ONE);
  await end();
  kept.drop(ONE);
  await end(new Fault('timeout'));
  expect([kept.leaving, warned]).toEqual([0, [['listen_failed', { uri: ONE, reason: 'timeout' }]]]);
  kept.want(ONE);
  expect(asked).toEqual([`subscribe ${ONE}`, `unsubscribe ${ONE}`, `subscribe ${ONE}`]);
});

test('only so many failures are told of, each with no more than the beginning of its URI', async () => {
  const { kept, warned, end } = keeping(1);
  kept.want(ONE.padEnd(1000, 'x'));
  await end(refusal);
  kept.want(TWO);
  await end(refusal);
  expect(warned).toEqual([['listen_failed', { uri: ONE.padEnd(256, 'x'), reason: 'error -32051' }]]);
});

test('closed, it waits for nothing and begins nothing', async () => {
  const { kept, clock, asked, end } = keeping();
  kept.want(ONE);
  await end(down);
  kept.want(TWO);
  kept.drop(TWO);
  kept.close();
  await end();
  kept.want('note://three');
  expect([clock.waits(), kept.leaving, asked]).toEqual([[], 0, [`subscribe ${ONE}`, `subscribe ${TWO}`]]);
});
