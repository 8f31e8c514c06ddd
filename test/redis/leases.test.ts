import { randomUUID } from 'node:crypto';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { leasesKit } from '../kits/leases-kit.ts';
import { connectedTo, leasesOver, nameOf, realTime } from '../support/redis-parts.ts';
import { anyRedis, redisServer } from '../support/redis-server.ts';

const closing: (() => Promise<void>)[] = [];
const url = await anyRedis((task) => void closing.push(task));
const connections = [await connectedTo(url), await connectedTo(url), await connectedTo(url)];
closing.push(...connections.map((redis) => () => redis.close()));

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

leasesKit('Redis', {
  open: async (terms) => {
    const prefix = randomUUID();
    const free = [...connections];
    const replica = async () => {
      const redis = free.pop();
      if (redis === undefined) throw new Error('no connection is left');
      return leasesOver(redis, { prefix, ...terms });
    };
    return { replica, pass: realTime };
  },
});

const CHOICE = { prefix: 'own', limit: 2 };

async function pair() {
  const server = await redisServer();
  const [one, other] = [await connectedTo(server.url), await connectedTo(server.url)];
  const [here, there] = [leasesOver(one, CHOICE).leases, leasesOver(other, CHOICE).leases];
  onTestFinished(async () => {
    await Promise.all([here.close(), there.close()]);
    await Promise.all([one.close(), other.close()]);
  });
  return { server, one, other, here, there };
}

test('nothing in Redis names an owner, and a count that nobody renews is over within 30 s', async () => {
  const { server, here } = await pair();
  expect(await here.claim('["https://idp.example","alice"]', 2)).toBe(true);
  const key = `{own}:connections:${nameOf('["https://idp.example","alice"]')}`;
  expect(key).toMatch(/^\{own\}:connections:[A-Za-z0-9_-]{43}$/);
  expect(await server.command('KEYS', '*')).toEqual([key]);
  expect(await server.command('HVALS', key)).toEqual([expect.stringMatching(/^2:\d{13}$/)]);
  const life = Number(await server.command('PTTL', key));
  expect(life).toBeGreaterThan(25_000);
  expect(life).toBeLessThanOrEqual(30_000);
});

test('while Redis is down each replica lets in as many as its own limit, and when it is back what there is counts', async () => {
  const { server, one, other, here, there } = await pair();
  expect([await here.claim('alice', 1), await there.claim('alice', 1)]).toEqual([true, true]);
  expect(await here.claim('alice', 2)).toBe(false);
  here.settle('alice', 1);
  await server.stop();
  await expect.poll(() => one.isUp || other.isUp).toBe(false);
  expect([await here.claim('alice', 2), await there.claim('bob', 2)]).toEqual([true, true]);
  there.settle('alice', 0);
  await server.start();
  await expect.poll(() => one.isUp && other.isUp, { timeout: 15_000 }).toBe(true);
  await expect.poll(() => server.command('HLEN', `{own}:connections:${nameOf('bob')}`)).toBe(1);
  expect([await there.claim('alice', 1), await here.claim('bob', 1)]).toEqual([false, false]);
});

test('a Redis that says nothing keeps nobody waiting for more than its time', async () => {
  const { server, here } = await pair();
  server.freeze();
  const startedAt = Date.now();
  expect(await here.claim('alice', 1)).toBe(true);
  expect(Date.now() - startedAt).toBeLessThan(2000);
  server.thaw();
});

test('a replica that closes before Redis knows its scripts gives back what it has', async () => {
  const { server, one, here } = await pair();
  await server.command('SCRIPT', 'FLUSH');
  expect(await here.claim('alice', 1)).toBe(true);
  here.settle('alice', 0);
  await here.close();
  await one.close();
  expect(await server.command('KEYS', '*')).toEqual([]);
});

test('what somebody else wrote there counts for nothing', async () => {
  const { server, here } = await pair();
  const key = `{own}:connections:${nameOf('alice')}`;
  await server.command('HSET', key, 'a', 'x', 'b', '5', 'c', '-5:9999999999999', 'd', '5:1', 'e', '');
  await server.command('HSET', key, 'f', '5:9999999999999', 'g', `5:${'9'.repeat(400)}`);
  expect([await here.claim('alice', 2), await here.claim('alice', 3)]).toEqual([true, false]);
  expect(await server.command('HLEN', key)).toBe(1);
  await server.command('SET', `{own}:connections:${nameOf('bob')}`, 'no hash');
  expect(await here.claim('bob', 1)).toBe(true);
});
