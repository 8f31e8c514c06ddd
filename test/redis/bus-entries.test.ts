import { expect, test } from 'vitest';
import { createMac } from '../../src/auth/mac.ts';
import { Entries } from '../../src/redis/entry.ts';
import { BUS_KEY, replica, updated } from '../support/redis-buses.ts';
import { type RedisServer, redisServer } from '../support/redis-server.ts';

const STREAM = '{test}:changes';
const POLL = { timeout: 15_000 };
const STRANGER = 'A'.repeat(22);
const entries = (key = BUS_KEY, stream = STREAM) => new Entries(stream, createMac([key], 'bus'));
const good = entries().write({ from: STRANGER, number: 1, hint: { kind: 'tools', upstream: 'a' } });
const withValue = (name: string, value: string) =>
  good.map((each, at) => (at % 2 === 1 && good[at - 1] === name ? value : each));

async function heardAfter(server: RedisServer, written: readonly (readonly string[])[]) {
  const { uris, meter, log, missed } = await replica(server.url);
  for (const fields of written) await server.command('XADD', STREAM, '*', ...fields);
  const other = await replica(server.url);
  other.bus.publish(updated('x://last'), 'elsewhere');
  await expect.poll(uris, POLL).toContain('x://last');
  const count = (stage: string) => meter.read('bus_entries_total', { stage });
  return { heard: uris(), refused: count('refused'), received: count('received'), log, missed: missed() };
}

test('an entry a replica wrote is heard', async () => {
  const { heard, refused, received } = await heardAfter(await redisServer(), [good]);
  expect(heard).toEqual(['tools', 'x://last']);
  expect([refused, received]).toEqual([0, 2]);
});

test('an entry that nobody with a key wrote is dropped and counted, and one line says so', async () => {
  const forged = [
    ['field', 'value'],
    [...good, 'one', 'more'],
    good.slice(2),
    [...good.slice(2), ...good.slice(0, 2)],
    withValue('version', '2'),
    withValue('from', 'B'.repeat(22)),
    withValue('from', ''),
    withValue('number', '2'),
    withValue('number', '1.0'),
    withValue('kind', 'prompts'),
    withValue('kind', 'everything'),
    withValue('upstream', 'b'),
    withValue('upstream', 'A B'),
    withValue('uri', '"x://1"'),
    withValue('mac', ''),
    withValue('mac', 'A'.repeat(43)),
    withValue('mac', 'A'.repeat(1_000_000)),
    entries('another key of replicas elsewhere').write({ from: STRANGER, number: 1, hint: { kind: 'everything' } }),
    entries(BUS_KEY, '{other}:changes').write({ from: STRANGER, number: 1, hint: { kind: 'tools', upstream: 'a' } }),
  ];
  const { heard, refused, received, log, missed } = await heardAfter(await redisServer(), forged);
  expect(heard).toEqual(['x://last']);
  expect([refused, received, missed]).toEqual([forged.length, 1, 0]);
  expect(log.lines.filter(({ event }) => event === 'bus_entry_refused')).toHaveLength(1);
});

test('bytes that are no text are dropped too', async () => {
  const server = await redisServer();
  const script = `redis.call('XADD', KEYS[1], '*', string.char(255, 0, 13, 10), string.rep(string.char(254), 100000))`;
  const { uris, meter } = await replica(server.url);
  await server.command('EVAL', script, '1', STREAM);
  await expect.poll(() => meter.read('bus_entries_total', { stage: 'refused' }), POLL).toBe(1);
  expect(uris()).toEqual([]);
});

test('an entry that is there twice is heard once', async () => {
  const { heard, refused } = await heardAfter(await redisServer(), [good, good]);
  expect(heard).toEqual(['tools', 'x://last']);
  expect(refused).toBe(0);
});

test('keys are rotated: the first signs, all are good', async () => {
  const server = await redisServer();
  const [old, both] = ['the old key of these replicas, so long', 'the new key of these replicas, so long'];
  const before = await replica(server.url, { keys: [old] });
  const after = await replica(server.url, { keys: [both, old] });
  before.bus.publish(updated('x://1'));
  await expect.poll(after.uris, POLL).toEqual(['x://1']);
  after.bus.publish(updated('x://2'));
  await expect.poll(() => before.meter.read('bus_entries_total', { stage: 'refused' }), POLL).toBe(1);
  expect(before.uris()).toEqual(['x://1']);
});

test('replicas of another prefix hear nothing of it', async () => {
  const server = await redisServer();
  const [here, there, elsewhere] = [
    await replica(server.url),
    await replica(server.url),
    await replica(server.url, { prefix: 'other' }),
  ];
  here.bus.publish(updated('x://1'));
  await expect.poll(there.uris, POLL).toEqual(['x://1']);
  expect(elsewhere.uris()).toEqual([]);
});

test('a URI of 16 KiB is carried; a longer one is heard here and counted as lost', async () => {
  const server = await redisServer();
  const [here, there] = [await replica(server.url), await replica(server.url)];
  const longest = `x://${'a'.repeat(16 * 1024 - 6)}`;
  for (const uri of [`${longest}a`, longest]) here.bus.publish(updated(uri));
  await expect.poll(there.uris, POLL).toEqual([longest]);
  expect(here.uris()).toEqual([`${longest}a`, longest]);
  expect(here.meter.read('bus_entries_total', { stage: 'lost' })).toBe(1);
});

test('the stream holds about 10,000 entries and no more', async () => {
  const server = await redisServer();
  const [here, there] = [await replica(server.url), await replica(server.url)];
  for (let round = 0; round < 13; round += 1) {
    for (let at = 0; at < 900; at += 1) here.bus.publish(updated(`x://${round}/${at}`), 'elsewhere');
    await expect.poll(() => there.heard.length, { timeout: 30_000, interval: 5 }).toBe((round + 1) * 900);
  }
  const length = Number(await server.command('XLEN', STREAM));
  expect([length >= 10_000, length < 10_200, there.missed()]).toEqual([true, true, 0]);
});
