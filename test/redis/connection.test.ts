import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readRedisAddress } from '../../src/config/redis-address.ts';
import { systemClock } from '../../src/observe/clock.ts';
import { openRedis } from '../../src/redis/connection.ts';
import { redisServer } from '../support/redis-server.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';

const POLL = { timeout: 15_000 };

function opened(url: string) {
  const address = readRedisAddress(url);
  if (address === undefined) throw new Error('not the URL of a Redis');
  const redis = openRedis({ address, probe: '{test}:probe', clock: systemClock() });
  const states: boolean[] = [];
  redis.onState((isUp) => void states.push(isUp));
  onTestFinished(() => redis.close());
  return { redis, states, isUp: () => expect.poll(() => redis.isUp, POLL).toBe(true) };
}

/** In a server's place: hangs up on everybody, and counts them. */
async function hangingUp(port: number) {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.on('error', () => {}).destroy();
  }).listen(port, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const end = async () => {
    server.close();
    await once(server, 'close');
  };
  return { count: () => count, end };
}

async function msOf(task: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await task.catch(() => {});
  return performance.now() - began;
}

test('answers come as RESP2 has them, in the order of the commands', async () => {
  const server = await redisServer();
  const { redis, isUp } = opened(`${server.url}/3`);
  await isUp();
  const replies = await Promise.allSettled([
    redis.send('{test}:a', ['SET', '{test}:a', 'ä\u2028']),
    redis.send('{test}:a', ['GET', '{test}:a']),
    redis.send('{test}:b', ['GET', '{test}:b']),
    redis.send('{test}:a', ['INCR', '{test}:a']),
    redis.send('{test}:a', ['EVAL', 'return {1, {"x", false}}', '0']),
  ]);
  expect(replies.map((reply) => (reply.status === 'fulfilled' ? reply.value : String(reply.reason)))).toEqual([
    'OK',
    'ä\u2028',
    null,
    'Error: ERR value is not an integer or out of range',
    [1, ['x', null]],
  ]);
  expect(redis.isUp).toBe(true);
  expect(await server.command('INFO', 'keyspace')).toContain('db3:keys=1');
});

test('each change of state is told once, a server that comes and goes included', async () => {
  const server = await redisServer();
  const { redis, states, isUp } = opened(server.url);
  await isUp();
  for (const _ of [1, 2, 3]) {
    await server.stop();
    await expect.poll(() => redis.isUp, POLL).toBe(false);
    await expect(redis.send('k', ['GET', 'k'])).rejects.toThrow('Redis cannot be reached');
    await server.start();
    await isUp();
  }
  expect(states).toEqual([true, false, true, false, true, false, true]);
});

test('a server that was not there is found within seconds, however often it was looked for', async () => {
  const server = await redisServer();
  await server.stop();
  const { redis, states, isUp } = opened(server.url);
  await expect.poll(() => redis.reason, POLL).toContain('ECONNREFUSED');
  const dials = await hangingUp(server.port);
  await expect.poll(dials.count, POLL).toBe(5);
  await dials.end();
  expect(states).toEqual([]);
  await server.start();
  await isUp();
  expect(states).toEqual([true]);
});

describe('a server that is there and says nothing', () => {
  test('a command rejects after a second; the link is given up after three, and a new one made when it speaks', async () => {
    const server = await redisServer();
    const { redis, states, isUp } = opened(server.url);
    await isUp();
    server.freeze();
    const waited = await msOf(redis.send('k', ['GET', 'k']));
    expect(waited).toBeGreaterThan(900);
    expect(waited).toBeLessThan(2500);
    await expect.poll(() => redis.isUp, { timeout: 3500 }).toBe(false);
    server.thaw();
    await isUp();
    expect(await redis.send('k', ['GET', 'k'])).toBeNull();
    expect(states).toEqual([true, false, true]);
  });

  test('it is noticed within six seconds also where nobody asks for anything', async () => {
    const server = await redisServer();
    const proxy = await tcpProxy(server.port);
    const { redis, isUp } = opened(`redis://127.0.0.1:${proxy.port}`);
    await isUp();
    proxy.silence();
    await expect.poll(() => redis.isUp, { timeout: 6000 }).toBe(false);
    proxy.mend();
    await isUp();
  });

  test('a pause of less than that costs nothing but the commands', async () => {
    const server = await redisServer();
    const { redis, states, isUp } = opened(server.url);
    await isUp();
    const slow = redis.send('k', ['EVAL', SPIN, '0']);
    await expect(slow).rejects.toThrow('Redis did not answer within 1000 ms');
    await expect.poll(() => redis.send('k', ['GET', 'k']).catch(() => 'late'), POLL).toBeNull();
    expect(states).toEqual([true]);
  });
});

const SPIN = `local began = redis.call('TIME') local now = began
  while (now[1] - began[1]) * 1000000 + now[2] - began[2] < 1500000 do now = redis.call('TIME') end return 1`;

describe('commands at once', () => {
  test('are bounded: what is over the bound rejects, and the rest is answered', async () => {
    const server = await redisServer();
    const { redis, isUp } = opened(server.url);
    await isUp();
    const sent = Array.from({ length: 1500 }, () => redis.send('k', ['INCR', 'k']));
    const replies = await Promise.allSettled(sent);
    const refused = replies.filter((reply) => reply.status === 'rejected').map(({ reason }) => String(reason));
    expect(refused.length).toBeGreaterThanOrEqual(400);
    expect(new Set(refused)).toEqual(new Set(['Error: Too many commands wait for Redis']));
    expect(await server.command('GET', 'k')).toBe(String(1500 - refused.length));
  });
});

describe('close', () => {
  test.each(['up', 'stopped', 'frozen'])(
    'comes at once where the server is %s, and what waits rejects',
    async (how) => {
      const server = await redisServer();
      const { redis, states, isUp } = opened(server.url);
      await isUp();
      if (how === 'stopped') await server.stop();
      if (how === 'frozen') server.freeze();
      const waiting = redis.send('k', ['BLPOP', '{test}:never', '0'], 30_000);
      const rejected = msOf(waiting);
      expect(await msOf(redis.close())).toBeLessThan(200);
      expect(await rejected).toBeLessThan(500);
      await redis.close();
      const before = states.length;
      await expect(redis.send('k', ['GET', 'k'])).rejects.toThrow();
      if (how === 'frozen') server.thaw();
      if (how === 'stopped') await server.start();
      await expect.poll(async () => String(await server.command('CLIENT', 'LIST')).split('cmd=').length, POLL).toBe(2);
      expect([states.length, redis.isUp]).toEqual([before, false]);
    },
  );

  test('ends the attempt to connect too', async () => {
    const server = await redisServer();
    server.freeze();
    const { redis, states } = opened(server.url);
    await redis.close();
    server.thaw();
    await expect.poll(async () => String(await server.command('CLIENT', 'LIST')).split('cmd=').length, POLL).toBe(2);
    expect(states).toEqual([]);
  });
});
