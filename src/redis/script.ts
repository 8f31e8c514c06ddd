import { createHash } from 'node:crypto';
import type { Redis, Reply } from './connection.ts';

/** A Lua script that runs whole or not at all, beside nothing else. Its keys are in one slot: the first says where it runs. */
export type Script = (redis: Redis, keys: readonly [string, ...string[]], args: readonly string[]) => Promise<Reply>;

/**
 * Sent by its hash, and in full where the server does not know it: the first time, and after a server has lost its
 * memory. A script that was refused for that has done nothing, so it may be sent again; none is after any other failure.
 */
export function script(source: string): Script {
  const hash = createHash('sha1').update(source).digest('hex');
  return async (redis, keys, args) => {
    const rest = [String(keys.length), ...keys, ...args];
    try {
      return await redis.send(keys[0], ['EVALSHA', hash, ...rest]);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return await redis.send(keys[0], ['EVAL', source, ...rest]);
    }
  };
}

function isUnknown(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
