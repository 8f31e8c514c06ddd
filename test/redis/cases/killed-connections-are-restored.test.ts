import { expect, test } from 'vitest';
import { redisServer } from '../../support/redis-server.ts';
import { bus, change, NEWS_UPDATED, reader, replicas, TOOLS_CHANGED } from '../../support/replicas.ts';
import { tellingOne } from '../../support/telling-one.ts';

/** Every type that `CLIENT KILL` knows. */
const TYPES = ['normal', 'pubsub', 'master', 'replica'];

test('whatever connections Redis kills, what changes on one replica reaches the clients of the other, once', async () => {
  const redis = await redisServer();
  const [here, there] = await replicas(redis.url, await tellingOne('shared'));
  await bus('up', here, there);
  const [caller, far] = [await reader(here, false), await reader(there)];
  for (const type of TYPES) {
    await redis.command('CLIENT', 'KILL', 'TYPE', type);
    await change(caller, 'touch');
    expect(await far.json()).toEqual(NEWS_UPDATED);
    await change(caller, 'add', type);
    expect(await far.json()).toEqual(TOOLS_CHANGED);
  }
  expect(await far.barrier()).toEqual([]);
});
