import { describe, expect, test } from 'vitest';
import { isUp, listenTo, redisBus, replica, updated } from '../support/redis-buses.ts';
import { redisServer } from '../support/redis-server.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';

const POLL = { timeout: 15_000 };

describe('Redis is down at the start', () => {
  test('the bus opens in time and serves this replica; when Redis comes, it says that anything may have changed', async () => {
    const server = await redisServer();
    await server.stop();
    const began = performance.now();
    const { bus, log, meter } = redisBus(server.url);
    const { uris, missed } = listenTo(bus);
    await bus.opened;
    expect(performance.now() - began).toBeLessThan(4000);
    expect(log.lines).toEqual([{ event: 'bus_down', fields: { reason: expect.stringContaining('ECONNREFUSED') } }]);
    expect(meter.read('bus_up', {})).toBe(0);
    bus.publish(updated('x://1'));
    await expect.poll(uris).toEqual(['x://1']);
    await server.start();
    await isUp(bus);
    const other = await replica(server.url);
    other.bus.publish(updated('x://2'));
    await expect.poll(uris, POLL).toEqual(['x://1', 'x://2']);
    expect([missed(), meter.read('bus_gaps_total', {}), meter.read('bus_up', {})]).toEqual([1, 0, 1]);
    expect(log.lines.map(({ event }) => event)).toEqual(['bus_down', 'bus_up']);
  });

  test('what was published before it came is told to the others', async () => {
    const server = await redisServer();
    const proxy = await tcpProxy(server.port);
    const there = await replica(server.url);
    proxy.cut();
    const { bus } = redisBus(`redis://127.0.0.1:${proxy.port}`);
    bus.publish(updated('x://1'));
    await bus.opened;
    proxy.mend();
    await expect.poll(there.uris, POLL).toEqual(['x://1']);
  });
});

test('a server that takes connections and says nothing is said not to answer', async () => {
  const server = await redisServer();
  server.freeze();
  // A database is asked for before the first command.
  const { bus, log } = redisBus(`${server.url}/1`);
  await bus.opened;
  server.thaw();
  expect(log.lines[0]).toEqual({ event: 'bus_down', fields: { reason: 'Redis does not answer' } });
});

test('what is published once the bus is open is heard, though nobody waited for more', async () => {
  const server = await redisServer();
  const here = await replica(server.url);
  const { bus } = redisBus(server.url);
  const { uris, missed } = listenTo(bus);
  await bus.opened;
  here.bus.publish(updated('x://1'));
  await expect.poll(uris, POLL).toEqual(['x://1']);
  expect(missed()).toBe(0);
});

test('a server that takes no entries is down, and is told them when it does', async () => {
  const server = await redisServer();
  const [here, there] = [await replica(server.url), await replica(server.url)];
  await server.command('CONFIG', 'SET', 'maxmemory', '1');
  here.bus.publish(updated('x://1'));
  here.bus.publish(updated('x://2'));
  await expect.poll(() => here.bus.isUp, POLL).toBe(false);
  expect(here.log.lines.at(-1)).toEqual({
    event: 'bus_down',
    fields: { reason: expect.stringContaining("used memory > 'maxmemory'") },
  });
  await server.command('CONFIG', 'SET', 'maxmemory', '0');
  await expect.poll(there.uris, POLL).toEqual(['x://1', 'x://2']);
  await isUp(here.bus);
  expect([here.missed(), there.missed()]).toEqual([0, 0]);
});

describe('the end', () => {
  test.each(['up', 'stopped', 'frozen'])(
    'comes within 2.5 s where the server is %s, and nothing is delivered after it',
    async (how) => {
      const server = await redisServer();
      const [here, there] = [await replica(server.url), await replica(server.url)];
      if (how === 'stopped') await server.stop();
      if (how === 'frozen') server.freeze();
      there.bus.publish(updated('x://1'));
      here.bus.publish(updated('x://2'));
      const began = performance.now();
      await Promise.all([there.close(), there.bus.close()]);
      expect(performance.now() - began).toBeLessThan(2500);
      if (how === 'frozen') server.thaw();
      await expect.poll(here.uris, POLL).toContain('x://2');
      expect(there.uris()).toEqual([]);
    },
  );

  test('what was published just before is still told', async () => {
    const server = await redisServer();
    const [here, there] = [await replica(server.url), await replica(server.url)];
    const uris = Array.from({ length: 200 }, (_, at) => `x://${at}`);
    for (const uri of uris) here.bus.publish(updated(uri));
    await here.close();
    await expect.poll(there.uris, POLL).toEqual(uris);
  });
});
