import { randomUUID } from 'node:crypto';
import { afterAll } from 'vitest';
import type { Bus } from '../../src/ports/bus.ts';
import type { Redis } from '../../src/redis/connection.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { busKit } from '../kits/bus-kit.ts';
import { isUp, redisBus } from '../support/redis-buses.ts';
import { anyRedis } from '../support/redis-server.ts';

const closing: (() => Promise<void>)[] = [];
const over = (task: () => Promise<void>) => void closing.push(task);
const url = await anyRedis(over);
const prefix = `kit-${randomUUID()}`;
const stream = keysOf(prefix)('changes');
const commands = new Map<Bus, Redis>();

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

busKit('Redis', {
  open: async (log, replicas) => {
    const all = Array.from({ length: replicas }, () => redisBus(url, { prefix, log, over }));
    for (const { bus, commands: redis } of all) {
      commands.set(bus, redis);
      await isUp(bus);
    }
    return all.map(({ bus }) => bus);
  },
  lose: async (bus) => {
    const redis = commands.get(bus);
    await redis?.send(stream, ['DEL', stream]);
    await redis?.send(stream, ['XADD', stream, '*', 'another', 'stream']);
  },
  hasReplicas: true,
});
