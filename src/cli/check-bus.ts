import { readRedisAddress } from '../config/redis-address.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../ports/clock.ts';
import { openRedis } from '../redis/connection.ts';
import { keysOf } from '../redis/keys.ts';

const PATIENCE_MS = 3000;

/** A sentence where the Redis of `bus` does not answer: the gateway would serve all the same, each replica by itself. */
export async function busWarnings({ bus }: Config, clock: Clock): Promise<string[]> {
  const address = bus === null ? undefined : readRedisAddress(bus.redis);
  if (bus === null || address === undefined) return [];
  const redis = openRedis({ address, probe: keysOf(bus.prefix)('probe'), clock });
  const isUp = await new Promise<boolean>((resolve) => {
    redis.onState(resolve);
    clock.after(PATIENCE_MS, () => resolve(redis.isUp));
  });
  const { reason } = redis;
  await redis.close();
  return isUp ? [] : [`bus: Redis cannot be reached, and replicas do not hear each other: ${reason}`];
}
