import { ErrorReply } from '@redis/client';
import { expect, test } from 'vitest';
import { createMac } from '../../src/auth/mac.ts';
import { Entries } from '../../src/redis/entry.ts';
import { Publisher } from '../../src/redis/publisher.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fakeRedis } from '../support/fake-redis.ts';
import { recordedMeter } from '../support/recorded.ts';
import { updated } from '../support/redis-buses.ts';

const IDENTITY = 'A'.repeat(22);

function publisher() {
  const redis = fakeRedis();
  const [clock, meter] = [fakeClock(), recordedMeter()];
  const entries = new Entries('s', createMac(['a key of at least thirty-two bytes'], 'bus'));
  let changes = 0;
  /** So that all that is due meanwhile is written. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 25) {
      await settled();
      clock.advance(25);
    }
    await settled();
  };
  const changed = () => {
    changes += 1;
  };
  const parts = { redis, stream: 's', entries, identity: IDENTITY, clock, meter, coalesceMs: 100 };
  const publish = new Publisher({ ...parts, changed });
  /** Number and URI of each entry, in the order of writing. */
  const written = () => redis.sent.map((args) => [numberOf(args), uriOf(args)]);
  const kinds = () => redis.sent.map((args) => fieldOf(args, 'kind'));
  const count = (stage: string) => meter.read('bus_entries_total', { stage });
  return { redis, clock, pass, publish, written, kinds, count, changes: () => changes };
}

const fieldOf = (args: readonly string[], name: string) => args[args.indexOf(name) + 1] ?? '';
const numberOf = (args: readonly string[]) => Number(fieldOf(args, 'number'));
const uriOf = (args: readonly string[]) => fieldOf(args, 'uri').replaceAll('"', '');
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('an entry is added to a stream that keeps about 10,000', async () => {
  const { redis, publish } = publisher();
  publish.publish(updated('x://1'));
  expect(redis.sent[0]?.slice(0, 6)).toEqual(['XADD', 's', 'MAXLEN', '~', '10000', '*']);
});

test('what may have been written keeps its number, and is written before all that comes later', async () => {
  const { redis, clock, pass, publish, written, count } = publisher();
  redis.answer = async (args) => {
    if (numberOf(args) > 1) throw new Error('Redis did not answer within 1000 ms');
    return '1-1';
  };
  for (const uri of ['x://1', 'x://2', 'x://3']) publish.publish(updated(uri));
  await pass(100);
  redis.answer = async () => '1-1';
  publish.publish(updated('x://4'));
  clock.advance(1000);
  await pass(100);
  expect(written()).toEqual([
    [1, 'x://1'],
    [2, 'x://2'],
    [3, 'x://3'],
    [2, 'x://2'],
    [3, 'x://3'],
    [4, 'x://4'],
  ]);
  expect(count('published')).toBe(4);
});

test('what was refused while later ones were written gets a number behind theirs', async () => {
  const { redis, clock, pass, publish, written, changes } = publisher();
  redis.answer = async (args) => {
    if (uriOf(args) === 'x://2') throw new ErrorReply('OOM command not allowed');
    return '1-1';
  };
  for (const uri of ['x://1', 'x://2', 'x://3']) publish.publish(updated(uri));
  await pass(100);
  expect([publish.refusal, changes()]).toEqual(['OOM command not allowed', 1]);
  redis.answer = async () => '1-1';
  clock.advance(1000);
  await settled();
  expect(written().at(-1)).toEqual([4, 'x://2']);
  expect([publish.refusal, changes()]).toEqual([undefined, 2]);
});

test('a change that waits already is not kept twice; one under way is', async () => {
  const { redis, pass, publish, written } = publisher();
  publish.publish(updated('x://1'));
  for (const uri of ['x://1', 'x://2', 'x://2']) publish.publish(updated(uri));
  await pass(100);
  expect(written().map(([, uri]) => uri)).toEqual(['x://1', 'x://1', 'x://2']);
  expect(redis.sent).toHaveLength(3);
});

test('an update that never stops coming is told at once, and then twice as often as clients are told of it', async () => {
  const { redis, clock, publish, written } = publisher();
  for (let ms = 0; ms < 1000; ms += 1) {
    publish.publish(updated('x://1'));
    await settled();
    clock.advance(1);
  }
  expect(redis.sent).toHaveLength(20);
  expect(written()[0]).toEqual([1, 'x://1']);
  await publish.close();
  expect(redis.sent).toHaveLength(21);
});

test('a list that never stops changing is told at once, and then forty times a second', async () => {
  const { redis, clock, publish } = publisher();
  for (let ms = 0; ms < 1000; ms += 1) {
    publish.publish({ kind: 'tools', upstream: 'a' });
    await settled();
    clock.advance(1);
  }
  expect(redis.sent).toHaveLength(40);
});

test('in a storm of updates a list is told within a window, and that anything may have changed once a second', async () => {
  const { redis, clock, publish, kinds } = publisher();
  const storm = async (steps: number, from: number) => {
    for (let step = 0; step < steps; step += 1) {
      for (let at = 0; at < 200; at += 1) publish.publish(updated(`x://${from + step}/${at}`));
      await settled();
      clock.advance(25);
    }
  };
  await storm(60, 0);
  const before = redis.sent.length;
  for (const kind of ['tools', 'prompts'] as const) publish.publish({ kind, upstream: 'a' });
  await storm(2, 60);
  expect(kinds().slice(before, before + 128)).toEqual(expect.arrayContaining(['tools', 'prompts']));
  await storm(60, 62);
  const everything = kinds().filter((kind) => kind === 'everything').length;
  expect([everything >= 3, everything <= 4]).toEqual([true, true]);
});

test('1,000 updates wait; of more the others learn that anything may have changed, before these', async () => {
  const { redis, publish, count } = publisher();
  redis.turn(false);
  for (let at = 0; at < 1003; at += 1) publish.publish(updated(`x://${at}`));
  publish.publish(updated('x://7'));
  expect([redis.sent.length, count('lost')]).toEqual([0, 3]);
  redis.turn(true);
  await publish.close();
  expect(redis.sent).toHaveLength(1001);
  expect(fieldOf(redis.sent[0] ?? [], 'kind')).toBe('everything');
  expect(redis.sent.map(numberOf)).toEqual(Array.from({ length: 1001 }, (_, at) => at + 1));
});

test('nothing is published after the end', async () => {
  const { redis, clock, publish } = publisher();
  redis.turn(false);
  publish.publish(updated('x://1'));
  await publish.close();
  publish.publish(updated('x://2'));
  redis.turn(true);
  clock.advance(10_000);
  await settled();
  expect(redis.sent).toEqual([]);
});
