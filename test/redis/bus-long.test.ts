import { expect, test } from 'vitest';
import { isUp, replica, updated } from '../support/redis-buses.ts';
import { connectedTo } from '../support/redis-parts.ts';
import { redisServer } from '../support/redis-server.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';

const STREAM = '{test}:changes';
const POLL = { timeout: 15_000 };
const MiB = 1024 * 1024;
/** Adds so many entries of so many bytes at once. */
const ADD = `local text = string.rep('a', ARGV[1])
  for at = 1, ARGV[2] do redis.call('XADD', KEYS[1], '*', 'x', text) end`;

test.each([
  ['one entry of 100 MiB', 100 * MiB, 1],
  ['a hundred of 1 MiB', MiB, 100],
])('%s: it is a gap, and what comes next is heard', async (_, bytes, count) => {
  const server = await redisServer();
  const [here, there] = [await replica(server.url), await replica(server.url)];
  await server.command('EVAL', ADD, '1', STREAM, String(bytes), String(count));
  await expect.poll(there.missed, POLL).toBe(1);
  const line = { event: 'bus_gap', fields: { reason: 'long', count: 1 } };
  expect(there.log.lines).toContainEqual(line);
  await Promise.all([isUp(here.bus), isUp(there.bus)]);
  here.bus.publish(updated('x://1'));
  await expect.poll(there.uris, POLL).toEqual(['x://1']);
  expect([there.missed(), there.meter.read('bus_gaps_total', {})]).toEqual([1, 1]);
  expect(there.meter.read('bus_entries_total', { stage: 'refused' })).toBe(0);
});

test('a stream with an entry of 100 MiB is looked at without it, and keeps Redis busy for no time', async () => {
  const server = await redisServer();
  await server.command('XADD', STREAM, '*', 'x', 'y');
  await server.command('EVAL', ADD, '1', STREAM, String(100 * MiB), '1');
  await server.command('CONFIG', 'RESETSTAT');
  const { bus, uris, missed } = await replica(server.url);
  bus.publish(updated('x://1'));
  const other = await replica(server.url);
  other.bus.publish(updated('x://2'));
  await expect.poll(uris, POLL).toContain('x://2');
  expect(missed()).toBe(0);
  const stats = String(await server.command('INFO', 'everything'));
  const numbers = (pattern: RegExp) => [...stats.matchAll(pattern)].map(([, number]) => Number(number));
  expect(Math.max(...numbers(/cmdstat_eval[^:]*:[^\n]*usec_per_call=([\d.]+)/g))).toBeLessThan(300_000);
  expect(Math.max(...numbers(/total_net_output_bytes:(\d+)/g))).toBeLessThan(MiB);
});

test('a first entry of 100 MiB goes, and those who had not read what was with it know of a gap', async () => {
  const server = await redisServer();
  const proxy = await tcpProxy(server.port);
  const away = await replica(`redis://127.0.0.1:${proxy.port}`);
  proxy.cut();
  await expect.poll(() => away.bus.isUp, POLL).toBe(false);
  await server.command('EVAL', ADD, '1', STREAM, String(100 * MiB), '1');
  await server.command('XADD', STREAM, '*', 'x', 'y');
  const { bus, missed } = await replica(server.url);
  expect(await server.command('XLEN', STREAM)).toBe(0);
  proxy.mend();
  await expect.poll(away.missed, POLL).toBe(1);
  bus.publish(updated('x://1'));
  await expect.poll(away.uris, POLL).toEqual(['x://1']);
  expect(missed()).toBe(0);
});

test('many consumer groups go with the stream', async () => {
  const server = await redisServer();
  const groups = `for at = 1, 20000 do redis.call('XGROUP', 'CREATE', KEYS[1], 'g' .. at, '0', 'MKSTREAM') end`;
  await server.command('EVAL', groups, '1', STREAM);
  const { missed } = await replica(server.url);
  expect(await server.command('EXISTS', STREAM)).toBe(0);
  expect(missed()).toBe(0);
});

test('a stream of the longest entries the gateway writes stays', async () => {
  const server = await redisServer();
  const here = await replica(server.url);
  const uri = (at: number) => `x://${at}/${'\u2028'.repeat(16_000)}`;
  for (let at = 0; at < 200; at += 1) here.bus.publish(updated(uri(at)), 'elsewhere');
  await expect.poll(() => server.command('XLEN', STREAM), POLL).toBe(200);
  const there = await replica(server.url);
  expect(await server.command('XLEN', STREAM)).toBe(200);
  here.bus.publish(updated('x://last'), 'elsewhere');
  await expect.poll(there.uris, POLL).toEqual(['x://last']);
});

test('a reply of 16 MiB is given up with its connection, which is made anew, and a shorter one is taken', async () => {
  const server = await redisServer();
  const redis = await connectedTo(server.url);
  const text = (bytes: number) => redis.send('k', ['EVAL', `return string.rep('a', ARGV[1])`, '0', String(bytes)]);
  for (const _ of [1, 2, 3]) expect(await text(15 * MiB)).toHaveLength(15 * MiB);
  await expect(text(16 * MiB)).rejects.toThrow('A reply of Redis is longer than 16777216 bytes');
  await expect.poll(() => redis.isUp, POLL).toBe(true);
  expect(await text(3)).toBe('aaa');
  await redis.close();
});
