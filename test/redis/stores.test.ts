import { randomUUID } from 'node:crypto';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createSeal } from '../../src/auth/seal.ts';
import { createTickets } from '../../src/auth/ticket.ts';
import { systemClock } from '../../src/observe/clock.ts';
import type { Reply } from '../../src/redis/connection.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { RedisStore } from '../../src/redis/store.ts';
import { type KitBounds, sharedStoreKit, storeKit } from '../kits/store-kit.ts';
import { connectedTo, nameOf, realTime, SHARED_KEY } from '../support/redis-parts.ts';
import { anyRedis, redisServer } from '../support/redis-server.ts';

const closing: (() => Promise<void>)[] = [];
const url = await anyRedis((task) => void closing.push(task));
const [redis, another] = [await connectedTo(url), await connectedTo(url)];
closing.push(
  () => redis.close(),
  () => another.close(),
);

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const storeOver = (connection: typeof redis, keys: (rest: string) => string, bounds: KitBounds) =>
  new RedisStore({ redis: connection, keys, nameOf }, bounds);

storeKit('Redis', {
  open: async (bounds) => ({ store: storeOver(redis, keysOf(randomUUID()), bounds), pass: realTime }),
});

sharedStoreKit('Redis', {
  open: async (bounds) => {
    const keys = keysOf(randomUUID());
    return { stores: [storeOver(redis, keys, bounds), storeOver(another, keys, bounds)], pass: realTime };
  },
});

const BOUNDS = { entries: 10, perOwner: 10 };
const entry = { value: 'x', owner: 'alice', life: 10_000 };

async function ownServer() {
  const server = await redisServer();
  const connection = await connectedTo(server.url);
  onTestFinished(() => connection.close());
  return { server, connection, store: storeOver(connection, keysOf('own'), BOUNDS) };
}

test('nothing in Redis names an owner, a ticket or what it stands for, and all of it ends by itself', async () => {
  const { server, store } = await ownServer();
  const clock = systemClock();
  const seal = createSeal([SHARED_KEY], clock);
  const tickets = createTickets({ store, seal, clock, clockTolerance: 0 });
  const identity = { issuer: 'https://idp.example', id: 'alice@example.com', roles: ['admin'], scopes: ['mcp'] };
  const given = await tickets.issue({ ...identity, claims: { team: 'blue' }, expiresAt: null }, 'https://app.example');
  const ticket = 'ticket' in given ? given.ticket : '';
  expect(ticket).toHaveLength(43);
  const keys = texts(await server.command('KEYS', '*'));
  const values = [await all(server.command, keys, 'GET'), await all(server.command, keys, 'SMEMBERS')].flat();
  const ends = await all(server.command, keys, 'ZRANGE', '0', '-1');
  expect(keys).toHaveLength(3);
  const seen = [...keys, ...values, ...ends].join('\n');
  const words = [ticket, 'alice', 'example', 'admin', 'mcp', 'blue'];
  expect(words.filter((word) => seen.includes(word))).toEqual([]);
  const lives = await Promise.all(keys.map((key) => server.command('PTTL', key)));
  expect(lives.map((life) => Number(life) > 0 && Number(life) <= 30_000)).toEqual([true, true, true]);
});

test('after a server has lost its scripts and all it kept, nothing is found and everything works', async () => {
  const { server, store } = await ownServer();
  await store.put('a', entry);
  await server.command('FLUSHALL');
  await server.command('SCRIPT', 'FLUSH');
  expect(await store.take('a')).toBeUndefined();
  expect(await store.put('b', entry)).toBe('kept');
  expect(await store.take('b')).toBe('x');
});

test('what is lost of the bounds mends itself', async () => {
  const { server, connection, store } = await ownServer();
  const tight = storeOver(connection, keysOf('own'), { entries: 2, perOwner: 2 });
  for (const key of ['a', 'b']) expect(await store.put(key, entry)).toBe('kept');
  expect(await tight.put('c', entry)).toBe('owner_full');
  await server.command('DEL', keysOf('own')('tickets'));
  expect([await tight.put('c', entry), await tight.put('d', entry)]).toEqual(['kept', 'kept']);
  expect(await tight.put('e', entry)).toBe('owner_full');
});

test('while Redis is down, or says nothing, both methods reject in time, and work when it is back', async () => {
  const { server, store } = await ownServer();
  const startedAt = Date.now();
  server.freeze();
  const silent = await Promise.allSettled([store.put('a', entry), store.take('a')]);
  server.thaw();
  await server.stop();
  const down = await Promise.allSettled([store.put('a', entry), store.take('a')]);
  expect([...silent, ...down].map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'rejected'));
  expect(Date.now() - startedAt).toBeLessThan(4000);
  await server.start();
  await expect.poll(() => store.put('b', entry).catch(() => 'down'), { timeout: 15_000 }).toBe('kept');
  expect(await store.take('b')).toBe('x');
});

function texts(reply: Reply): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}

/** What the command says of those keys it is for. */
async function all(
  command: (...args: readonly string[]) => Promise<Reply>,
  keys: readonly string[],
  name: string,
  ...args: readonly string[]
): Promise<string[]> {
  const replies = await Promise.allSettled(keys.map((key) => command(name, key, ...args)));
  return replies.flatMap((each) => (each.status === 'fulfilled' ? [JSON.stringify(each.value)] : []));
}
