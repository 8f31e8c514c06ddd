import { randomBytes } from 'node:crypto';
import { createMac } from '../auth/mac.ts';
import { TICKET_BOUNDS } from '../auth/ticket.ts';
import { MemoryStore } from '../auth/ticket-store.ts';
import { readRedisAddress } from '../config/redis-address.ts';
import type { Config } from '../config/schema.ts';
import { MemoryBus } from '../fanout/memory-bus.ts';
import type { Bus } from '../ports/bus.ts';
import type { Leases } from '../ports/leases.ts';
import type { Store } from '../ports/store.ts';
import { RedisBus } from '../redis/bus.ts';
import { openRedis } from '../redis/connection.ts';
import { keysOf } from '../redis/keys.ts';
import { RedisLeases } from '../redis/leases.ts';
import { RedisStore } from '../redis/store.ts';
import type { Shared } from './shared.ts';

/** What the replicas of a gateway have in common. */
export interface Replicas {
  readonly bus: Bus;
  /** Of tickets. */
  readonly store: Store;
  /** Of connections; absent where this gateway is the only one. */
  readonly leases: Leases | undefined;
  /** Resolves when what others say is heard, or cannot be for now. What is listed afterwards is not older. */
  readonly opened: Promise<void>;
  /** For those who ask whether the gateway is ready: it is also without the others. */
  readonly detail: () => { readonly bus?: 'up' | 'down' };
  close(): Promise<void>;
}

export function joinReplicas(shared: Shared): Replicas {
  const { bus, seal } = shared.config;
  const [first, ...others] = seal.keys;
  if (bus === null) return alone(shared);
  if (first === undefined) throw new Error('bus needs seal.keys');
  return overRedis(shared, bus, [first, ...others]);
}

function alone({ clock, meter, log }: Shared): Replicas {
  const bus = new MemoryBus(log);
  const store = new MemoryStore(TICKET_BOUNDS, clock);
  meter.gauge('bus_up', {}).set(1);
  const close = async () => {
    await bus.close();
    await store.close();
  };
  return { bus, store, leases: undefined, opened: Promise.resolve(), detail: () => ({}), close };
}

function overRedis(
  shared: Shared,
  { redis, prefix }: NonNullable<Config['bus']>,
  secrets: readonly [string, ...string[]],
): Replicas {
  const { config, clock, log } = shared;
  const address = readRedisAddress(redis);
  if (address === undefined) throw new Error('bus.redis cannot be read');
  const keys = keysOf(prefix);
  const open = () => openRedis({ address, probe: keys('probe'), clock });
  const commands = open();
  const own = createMac(secrets, 'owner');
  const parts = { redis: commands, keys, nameOf: (owner: string) => own.sign(owner), clock };
  const mac = createMac(secrets, 'bus');
  const coalesceMs = config.timing.listChangeCoalesce;
  const bus = new RedisBus({ ...shared, local: new MemoryBus(log), commands, reading: open(), keys, mac, coalesceMs });
  const store = new RedisStore(parts, TICKET_BOUNDS);
  const leases = new RedisLeases({
    ...parts,
    random: Math.random,
    replica: randomBytes(16).toString('base64url'),
    limit: config.limits.connectionsPerPrincipal,
  });
  const close = async () => {
    await Promise.all([bus.close(), store.close(), leases.close()]);
    await commands.close();
  };
  return { bus, store, leases, opened: bus.opened, detail: () => ({ bus: bus.isUp ? 'up' : 'down' }), close };
}
