import { randomUUID } from 'node:crypto';
import { createMac } from '../../src/auth/mac.ts';
import { readRedisAddress } from '../../src/config/redis-address.ts';
import { systemClock } from '../../src/observe/clock.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { RedisLeases } from '../../src/redis/leases.ts';

/** Of every replica of a test; also `seal.keys` of its gateways. */
export const SHARED_KEY = 'the seal key of all replicas of one test';

/** What stands for an owner in the keys of replicas with that key. */
export const nameOf = (owner: string): string => createMac([SHARED_KEY], 'owner').sign(owner);

/** A connection that is up. */
export async function connectedTo(url: string): Promise<Redis> {
  const address = readRedisAddress(url);
  if (address === undefined) throw new Error('not the URL of a Redis');
  const redis = openRedis({ address, probe: 'probe', clock: systemClock() });
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no Redis: ${redis.reason}`)), 15_000);
    redis.onState(() => {
      clearTimeout(late);
      resolve();
    });
  });
  return redis;
}

export interface LeaseChoice {
  readonly prefix: string;
  readonly limit: number;
  /** Absent: as the gateway has it. */
  readonly life?: number;
}

/** The leases of one replica over a connection, until it dies. */
export function leasesOver(redis: Redis, { prefix, ...terms }: LeaseChoice) {
  const clock = systemClock();
  let isAlive = true;
  const after: Clock['after'] = (ms, task) => clock.after(ms, () => (isAlive ? task() : undefined));
  const leases = new RedisLeases({
    redis,
    keys: keysOf(prefix),
    nameOf,
    clock: { ...clock, after },
    random: Math.random,
    replica: randomUUID(),
    ...terms,
  });
  const die = () => {
    isAlive = false;
  };
  return { leases, die };
}

/** Real time, a little more of it: a timer may run early by a fraction. */
export function realTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms + 20));
}
