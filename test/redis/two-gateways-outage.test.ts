import { expect, test } from 'vitest';
import { redisServer } from '../support/redis-server.ts';
import {
  bus,
  change,
  logged,
  metric,
  NEWS_UPDATED,
  reader,
  readiness,
  replicas,
  TOOLS_CHANGED,
  toolNames,
} from '../support/replicas.ts';
import { NEWS, tellingOne } from '../support/telling-one.ts';

test('while Redis is away each replica serves and says so, and what changed meanwhile is told when it is back', async () => {
  const redis = await redisServer();
  const [here, there] = await replicas(redis.url, await tellingOne('shared'));
  await bus('up', here, there);
  const [caller, far] = [await reader(here, false), await reader(there)];
  await redis.stop();
  await bus('down', here, there);
  expect(await readiness(there)).toEqual([
    200,
    { status: 'ready', detail: { upstreams: { up: 'answered' }, bus: 'down' } },
  ]);
  await change(caller, 'add', 'meanwhile');
  expect(await caller.json()).toEqual(TOOLS_CHANGED);
  await change(caller, 'touch');
  expect(await toolNames(caller)).toContain('up__meanwhile');
  expect(await far.barrier()).toEqual([]);
  await redis.start();
  await bus('up', here, there);
  const heard = [await far.json(), await far.json()];
  expect(heard).toContainEqual(TOOLS_CHANGED);
  expect(heard).toContainEqual(NEWS_UPDATED);
  expect(await toolNames(far)).toContain('up__meanwhile');
  for (const gateway of [here, there]) {
    expect(logged(gateway, 'bus_up', 'bus_down')).toEqual(['bus_up', 'bus_down', 'bus_up']);
  }
  expect((await readiness(there))[1]).toEqual({
    status: 'ready',
    detail: { upstreams: { up: 'answered' }, bus: 'up' },
  });
}, 60_000);

test('a change that its replica took to the grave is found when Redis comes back empty', async () => {
  const redis = await redisServer();
  const upstream = await tellingOne('shared');
  const [here, there] = await replicas(redis.url, upstream);
  const far = await reader(there);
  await here.tell({ kind: 'updated', upstream: 'up', uri: 'news://other' });
  await expect.poll(() => metric(there, 'mcp_gateway_bus_entries_total', { stage: 'received' })).toBe(1);
  await redis.stop();
  await bus('down', here, there);
  upstream.addInSilence('unheard');
  await here.close();
  await redis.start();
  await bus('up', there);
  const heard = [await far.json(), await far.json()];
  expect(heard).toContainEqual(TOOLS_CHANGED);
  expect(heard).toContainEqual(NEWS_UPDATED);
  expect(await metric(there, 'mcp_gateway_bus_gaps_total')).toBe(1);
}, 60_000);

test('a gateway that starts while Redis is away serves, and catches up', async () => {
  const redis = await redisServer();
  await redis.stop();
  const upstream = await tellingOne('shared');
  const [here, there] = await replicas(redis.url, upstream);
  expect(await readiness(here)).toEqual([
    200,
    { status: 'ready', detail: { upstreams: { up: 'answered' }, bus: 'down' } },
  ]);
  const [caller, far] = [await reader(here, false), await reader(there, false)];
  await change(caller, 'add', 'early');
  upstream.addInSilence('unheard');
  await redis.start();
  await bus('up', here, there);
  expect(await far.json()).toEqual(TOOLS_CHANGED);
  expect(await toolNames(far)).toEqual(expect.arrayContaining(['up__early', 'up__unheard']));
  expect(logged(there, 'bus_up', 'bus_down')).toEqual(['bus_down', 'bus_up']);
}, 60_000);

test('connections killed three times in a row cost no change and tell none twice', async () => {
  const redis = await redisServer();
  const [here, there] = await replicas(redis.url, await tellingOne('shared'));
  const [caller, far] = [await reader(here, false), await reader(there)];
  for (const type of ['normal', 'pubsub', 'normal']) {
    await redis.command('CLIENT', 'KILL', 'TYPE', type);
    await change(caller, 'touch');
    expect(await far.json()).toEqual(NEWS_UPDATED);
  }
  await change(caller, 'add', 'marker');
  expect(await far.json()).toEqual(TOOLS_CHANGED);
  expect(await metric(there, 'mcp_gateway_bus_gaps_total')).toBe(0);
}, 60_000);

test('where the stream was trimmed behind the reader’s back everything is listed anew', async () => {
  const redis = await redisServer();
  const upstream = await tellingOne('shared');
  const [here, there] = await replicas(redis.url, upstream);
  const far = await reader(there);
  await here.tell({ kind: 'updated', upstream: 'up', uri: NEWS });
  expect(await far.json()).toEqual(NEWS_UPDATED);
  upstream.addInSilence('unheard');
  const before = upstream.listings;
  const stream = '{mcp-ws}:changes';
  // At once, so that the reader sees nothing of what comes and goes.
  const script = `
    redis.call('XADD', KEYS[1], '*', 'a', 'b')
    redis.call('XTRIM', KEYS[1], 'MAXLEN', '0')
    return redis.call('XADD', KEYS[1], '*', 'a', 'b')`;
  await redis.command('EVAL', script, '1', stream);
  const heard = [await far.json(), await far.json()];
  expect(heard).toContainEqual(TOOLS_CHANGED);
  expect(heard).toContainEqual(NEWS_UPDATED);
  expect(await metric(there, 'mcp_gateway_bus_gaps_total')).toBe(1);
  expect(upstream.listings).toBeGreaterThan(before);
}, 60_000);
