import { expect, onTestFinished } from 'vitest';
import { createMac } from '../../src/auth/mac.ts';
import { readRedisAddress } from '../../src/config/redis-address.ts';
import { MemoryBus } from '../../src/fanout/memory-bus.ts';
import { systemClock } from '../../src/observe/clock.ts';
import type { Bus, Change, Origin } from '../../src/ports/bus.ts';
import type { Log } from '../../src/ports/log.ts';
import { RedisBus } from '../../src/redis/bus.ts';
import { openRedis } from '../../src/redis/connection.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { recordedLog, recordedMeter } from './recorded.ts';

export const BUS_KEY = 'a key of replicas that belong together';

export interface BusChoice {
  readonly prefix?: string;
  readonly ca?: string;
  readonly keys?: readonly [string, ...string[]];
  readonly log?: Log;
  /** When it closes: with the test, unless given. */
  readonly over?: (task: () => Promise<void>) => void;
}

/** A bus as the gateway wires it. It begins to connect; `bus.opened` tells when it has, or that it could not. */
export function redisBus(url: string, choice: BusChoice = {}) {
  const { prefix = 'test', ca, keys = [BUS_KEY], over = onTestFinished } = choice;
  const address = readRedisAddress(url);
  if (address === undefined) throw new Error('not the URL of a Redis');
  const [clock, meter, log] = [systemClock(), recordedMeter(), recordedLog()];
  const options = { address, probe: keysOf(prefix)('changes'), clock, ca };
  const commands = openRedis(options);
  const reading = openRedis(options);
  const parts = { commands, reading, keys: keysOf(prefix), mac: createMac(keys, 'bus'), clock, meter, coalesceMs: 100 };
  const bus = new RedisBus({ ...parts, local: new MemoryBus(choice.log ?? log), log: choice.log ?? log });
  const close = async () => {
    await bus.close();
    await commands.close();
  };
  over(close);
  return { bus, commands, reading, meter, log, close };
}

/** What a bus delivers, as it comes. */
export function listenTo(bus: Bus) {
  const heard: [Change, Origin][] = [];
  let missed = 0;
  bus.subscribe((change, origin) => void heard.push([change, origin]));
  bus.onMissed(() => {
    missed += 1;
  });
  return {
    heard,
    uris: () => heard.map(([change]) => (change.kind === 'updated' ? change.uri : change.kind)),
    missed: () => missed,
  };
}

/** A replica that is up, and what its listeners hear. */
export async function replica(url: string, choice: BusChoice = {}) {
  const parts = redisBus(url, choice);
  const ears = listenTo(parts.bus);
  await isUp(parts.bus);
  return { ...parts, ...ears };
}

export function isUp(bus: Bus): Promise<void> {
  return expect.poll(() => bus.isUp, { timeout: 15_000 }).toBe(true);
}

export function updated(uri: string): Change {
  return { kind: 'updated', upstream: 'a', uri };
}
