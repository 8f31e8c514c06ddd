import type { Put, Store, StoreEntry } from '../ports/store.ts';
import type { Redis } from './connection.ts';
import { script } from './script.ts';

export interface RedisStoreBounds {
  /** Entries in all, and of one owner. */
  readonly entries: number;
  readonly perOwner: number;
}

export interface RedisStoreParts {
  readonly redis: Redis;
  /** A key of the gateway's in Redis by its last part. */
  readonly keys: (rest: string) => string;
  /** What stands for an owner in a key: it tells nothing of whom. */
  readonly nameOf: (owner: string) => string;
}

/**
 * `ends` has each entry with its end, `own` the owner's: one whose end is not in `ends` has been taken or is over. So what
 * is lost of the one mends the other, and no count can be wrong for longer than a life.
 */
const PUT = script(`
local entry, ends, own = KEYS[1], KEYS[2], KEYS[3]
local name, value, life, entries, perOwner = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', ends, '-inf', now)
for _, each in ipairs(redis.call('SMEMBERS', own)) do
  if not redis.call('ZSCORE', ends, each) then redis.call('SREM', own, each) end
end
if redis.call('SCARD', own) >= perOwner then return 'owner_full' end
if redis.call('ZCARD', ends) >= entries then return 'full' end
redis.call('SET', entry, value, 'PX', life)
redis.call('ZADD', ends, now + life, name)
redis.call('SADD', own, name)
if redis.call('PTTL', ends) < life then redis.call('PEXPIRE', ends, life) end
if redis.call('PTTL', own) < life then redis.call('PEXPIRE', own, life) end
return 'kept'
`);

const TAKE = script(`
local value = redis.call('GET', KEYS[1])
if value then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return value
`);

/**
 * The store of all replicas that share a Redis. Lives end by its clock alone. There is no bound on the length of all values
 * together, as in the memory of a process: what there can be is as many entries as there may be of the longest that is put.
 * Both methods reject within the time a command may take where Redis cannot be reached: an entry may then have been kept,
 * or taken, though nobody has it.
 */
export class RedisStore implements Store {
  readonly #parts: RedisStoreParts;
  readonly #bounds: readonly string[];
  readonly #ends: string;

  constructor(parts: RedisStoreParts, { entries, perOwner }: RedisStoreBounds) {
    this.#parts = parts;
    this.#bounds = [String(entries), String(perOwner)];
    this.#ends = parts.keys('tickets');
  }

  async put(key: string, { value, owner, life }: StoreEntry): Promise<Put> {
    const { redis, keys, nameOf } = this.#parts;
    const own = keys(`tickets-of:${nameOf(owner)}`);
    const touched = [keys(`ticket:${key}`), this.#ends, own] as const;
    const answer = await PUT(redis, touched, [key, value, String(life), ...this.#bounds]);
    if (answer === 'kept' || answer === 'owner_full' || answer === 'full') return answer;
    throw new Error('Redis gave no answer that the script can give');
  }

  async take(key: string): Promise<string | undefined> {
    const { redis, keys } = this.#parts;
    const value = await TAKE(redis, [keys(`ticket:${key}`), this.#ends], [key]);
    return typeof value === 'string' ? value : undefined;
  }

  /** What was put stays, for the other replicas; the connection is not the store's own. */
  async close(): Promise<void> {}
}
