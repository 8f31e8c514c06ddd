import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Clock } from '../../src/ports/clock.ts';
import { RedisLeases } from '../../src/redis/leases.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { type FakeRedis, fakeRedis } from '../support/fake-redis.ts';

function open(redis: FakeRedis) {
  const time = fakeClock();
  const set = { timers: 0 };
  const after: Clock['after'] = (ms, task) => {
    set.timers += 1;
    return time.after(ms, task);
  };
  const clock = { ...time, after };
  const leases = new RedisLeases({
    redis,
    keys: (rest) => rest,
    nameOf: (owner) => owner,
    clock,
    random: () => 0.5,
    replica: 'me',
    limit: 10,
  });
  return { leases, clock, set };
}

/** Of each command that tells counts: its owners, each with its count. */
function told(redis: FakeRedis): string[][] {
  return redis.sent.flatMap((args) => {
    const count = Number(args[2]);
    const [keys, [replica, life, ...counts]] = [args.slice(3, 3 + count), args.slice(3 + count)];
    // A claim has the same number of arguments as the telling of two counts, and the limit in its third place.
    if (replica !== 'me' || life !== '30000') return [];
    return [keys.map((key, at) => `${key.replace('connections:', '')} ${counts[at]}`)];
  });
}

test('while Redis is down claims are granted at once and nothing is sent', async () => {
  const redis = fakeRedis();
  const { leases, clock } = open(redis);
  redis.turn(false);
  expect(await leases.claim('alice', 1)).toBe(true);
  leases.settle('bob', 0);
  clock.advance(60_000);
  await leases.close();
  expect(redis.sent).toEqual([]);
});

test('a claim that Redis does not answer, or answers with an error, is granted', async () => {
  const redis = fakeRedis(async () => {
    throw new Error('Redis did not answer within 1000 ms');
  });
  expect(await open(redis).leases.claim('alice', 1)).toBe(true);
  redis.answer = async () => 0;
  expect(await open(redis).leases.claim('alice', 1)).toBe(false);
});

test('when Redis is back what there is now is told at once, and of what has gone meanwhile nothing', async () => {
  const redis = fakeRedis();
  const { leases } = open(redis);
  redis.turn(false);
  await leases.claim('alice', 1);
  await leases.claim('alice', 2);
  await leases.claim('bob', 1);
  leases.settle('bob', 0);
  leases.settle('alice', 1);
  redis.turn(true);
  await turn();
  expect(told(redis)).toEqual([['alice 1']]);
});

test('all that is held is told anew three times in a life, 200 owners in a command and one command at a time', async () => {
  const under = { way: 0, most: 0 };
  const redis = fakeRedis(async () => {
    under.way += 1;
    under.most = Math.max(under.most, under.way);
    await turn();
    under.way -= 1;
    return 1;
  });
  const { leases, clock } = open(redis);
  redis.turn(false);
  for (let at = 0; at < 450; at += 1) await leases.claim(`o${at}`, 1);
  redis.turn(true);
  await expect.poll(() => told(redis).map((owners) => owners.length)).toEqual([200, 200, 50]);
  clock.advance(9_999);
  await turn();
  expect(redis.sent).toHaveLength(3);
  clock.advance(1);
  await expect.poll(() => told(redis).map((owners) => owners.length)).toEqual([200, 200, 50, 200, 200, 50]);
  expect(under.most).toBe(1);
});

test('what cannot be told is told with the next renewal', async () => {
  const redis = fakeRedis();
  const { leases, clock } = open(redis);
  await leases.claim('alice', 3);
  redis.answer = async () => {
    throw new Error('Redis did not answer within 1000 ms');
  };
  leases.settle('alice', 2);
  await turn();
  redis.answer = async () => 1;
  clock.advance(10_000);
  await turn();
  expect(told(redis).at(-1)).toEqual(['alice 2']);
});

test('what is settled while its claim is under way is told once more after it', async () => {
  const answers: ((reply: number) => void)[] = [];
  const redis = fakeRedis(() => new Promise((resolve) => void answers.push(resolve)));
  const { leases } = open(redis);
  const claim = leases.claim('alice', 2);
  leases.settle('alice', 1);
  await turn();
  answers[1]?.(1);
  await turn();
  expect(told(redis)).toEqual([['alice 1']]);
  answers[0]?.(1);
  expect(await claim).toBe(true);
  await turn();
  expect(told(redis)).toEqual([['alice 1'], ['alice 1']]);
});

test('an owner whose claim was not answered, and who has gone since, is told to have none when Redis is back', async () => {
  const redis = fakeRedis(async () => {
    throw new Error('Redis did not answer within 1000 ms');
  });
  const { leases, clock } = open(redis);
  expect(await leases.claim('alice', 1)).toBe(true);
  expect(await leases.claim('bob', 1)).toBe(true);
  redis.turn(false);
  leases.settle('alice', 0);
  redis.answer = async () => 1;
  redis.turn(true);
  await turn();
  expect(told(redis)).toEqual([['bob 1', 'alice 0']]);
  clock.advance(10_000);
  await turn();
  expect(told(redis).at(-1)).toEqual(['bob 1']);
});

test('there are no more than 1,000 such owners', async () => {
  const redis = fakeRedis(async () => {
    throw new Error('Redis did not answer within 1000 ms');
  });
  const { leases } = open(redis);
  for (let at = 0; at < 1100; at += 1) await leases.claim(`o${at}`, 1);
  redis.turn(false);
  for (let at = 0; at < 1100; at += 1) leases.settle(`o${at}`, 0);
  redis.answer = async () => 1;
  redis.turn(true);
  await expect.poll(() => told(redis).flat().length).toBe(1000);
});

test('a replica that closes gives back all it has, and says nothing afterwards', async () => {
  const redis = fakeRedis();
  const { leases, clock, set } = open(redis);
  await leases.claim('alice', 2);
  await leases.claim('bob', 1);
  await leases.close();
  expect(told(redis)).toEqual([['alice 0', 'bob 0']]);
  const before = redis.sent.length;
  expect(await leases.claim('carol', 1)).toBe(true);
  leases.settle('alice', 0);
  clock.advance(60_000);
  await turn();
  expect(redis.sent).toHaveLength(before);
  expect(set.timers).toBe(1);
});
