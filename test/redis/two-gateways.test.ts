import { describe, expect, test } from 'vitest';
import { redisServer } from '../support/redis-server.ts';
import { bus, change, NEWS_UPDATED, reader, replicas, TOOLS_CHANGED, toolNames } from '../support/replicas.ts';
import { NEWS, tellingOne } from '../support/telling-one.ts';

describe.each(['shared', 'session'] as const)('two gateways, links: %s', (isolation) => {
  test('a tool that one replica is told of is told of on both, once, and listed on both', async () => {
    const { url } = await redisServer();
    const [here, there] = await replicas(url, await tellingOne(isolation));
    const [caller, near, far] = [await reader(here, false), await reader(here, false), await reader(there, false)];
    await change(caller, 'add', 'first');
    for (const client of [near, far]) {
      expect(await client.json()).toEqual(TOOLS_CHANGED);
      expect(await toolNames(client)).toContain('up__first');
    }
    await change(caller, 'add', 'second');
    for (const client of [near, far]) {
      expect(await client.json()).toEqual(TOOLS_CHANGED);
      expect(await toolNames(client)).toContain('up__second');
      expect(await client.barrier()).toEqual([]);
    }
  });

  test('a list that changed in silence is listed anew on both when one is told so', async () => {
    const { url } = await redisServer();
    const upstream = await tellingOne(isolation);
    const [here, there] = await replicas(url, upstream);
    const [near, far] = [await reader(here, false), await reader(there, false)];
    upstream.addInSilence('quiet');
    expect(await here.tell({ kind: 'tools', upstream: 'up' })).toMatchObject({ status: 202, body: { published: 1 } });
    for (const client of [near, far]) {
      expect(await client.json()).toEqual(TOOLS_CHANGED);
      expect(await toolNames(client)).toContain('up__quiet');
      expect(await client.barrier()).toEqual([]);
    }
  });
});

test('what is updated for one replica is told to the subscribers of both, once', async () => {
  const { url } = await redisServer();
  const [here, there] = await replicas(url, await tellingOne('shared'));
  const [near, far, other] = [await reader(here), await reader(there), await reader(there, false)];
  const caller = await reader(here, false);
  await change(caller, 'touch');
  expect([await near.json(), await far.json()]).toEqual([NEWS_UPDATED, NEWS_UPDATED]);
  await change(caller, 'add', 'marker');
  expect([await near.json(), await far.json(), await other.json()]).toEqual(Array(3).fill(TOOLS_CHANGED));
});

test('what is updated is published also where nobody here has subscribed', async () => {
  const { url } = await redisServer();
  const [here, there] = await replicas(url, await tellingOne('shared'));
  const [caller, far] = [await reader(here, false), await reader(there)];
  await change(caller, 'touch');
  expect(await far.json()).toEqual(NEWS_UPDATED);
});

test('an update that every link is told of is one to each session', async () => {
  const { url } = await redisServer();
  const timing = { listChangeCoalesce: '500ms' };
  const [here, there] = await replicas(url, await tellingOne('shared', true), { timing });
  const [near, far] = [await reader(here), await reader(there)];
  const caller = await reader(here, false);
  await change(caller, 'touch');
  await change(caller, 'touch');
  expect([await near.json(), await far.json()]).toEqual([NEWS_UPDATED, NEWS_UPDATED]);
  await change(caller, 'add', 'marker');
  expect([await near.json(), await far.json()]).toEqual([TOOLS_CHANGED, TOOLS_CHANGED]);
});

test('an update on the link of one session stays with it', async () => {
  const { url } = await redisServer();
  const [here, there] = await replicas(url, await tellingOne('session'));
  const [caller, near, far] = [await reader(here), await reader(here), await reader(there)];
  caller.send({ jsonrpc: '2.0', id: 'own', method: 'tools/call', params: { name: 'up__touch' } });
  const frames = [await caller.json(), await caller.json()];
  expect(frames).toContainEqual(NEWS_UPDATED);
  expect(frames).toContainEqual(expect.objectContaining({ id: 'own' }));
  await change(caller, 'add', 'marker');
  expect([await near.json(), await far.json()]).toEqual([TOOLS_CHANGED, TOOLS_CHANGED]);
});

test('an update told of from outside reaches the subscribers of both, by its upstream or without', async () => {
  const { url } = await redisServer();
  const [here, there] = await replicas(url, await tellingOne('shared'));
  const [near, far] = [await reader(here), await reader(there)];
  expect(await here.tell({ kind: 'updated', upstream: 'up', uri: NEWS })).toMatchObject({ status: 202 });
  expect([await near.json(), await far.json()]).toEqual([NEWS_UPDATED, NEWS_UPDATED]);
  expect(await there.tell({ kind: 'updated', uri: NEWS })).toMatchObject({ status: 202 });
  expect([await near.json(), await far.json()]).toEqual([NEWS_UPDATED, NEWS_UPDATED]);
});

test('replicas of different prefixes do not hear each other', async () => {
  const { url } = await redisServer();
  const upstream = await tellingOne('shared');
  const [here] = await replicas(url, upstream);
  const [stranger] = await replicas(url, await tellingOne('shared'), { bus: { redis: url, prefix: 'other' } });
  await bus('up', here, stranger);
  const [near, apart] = [await reader(here), await reader(stranger)];
  await here.tell({ kind: 'updated', upstream: 'up', uri: NEWS });
  expect(await near.json()).toEqual(NEWS_UPDATED);
  await stranger.tell({ kind: 'tools' });
  expect(await apart.barrier()).toEqual([]);
});
