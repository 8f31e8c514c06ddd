import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';
import { isRecord } from './jwt-options.ts';
import type { KeyAnswer } from './keys.ts';

/** The part of a token's header that selects a key. */
export interface KeyHeader {
  readonly alg: string;
  readonly kid?: string;
}

export interface KeySet {
  find(header: KeyHeader): Promise<Exclude<KeyAnswer, { outcome: 'unavailable' }>>;
}

/** Tries for a token that names no `kid`: each costs a signature check before anyone is authenticated. */
const MAX_CANDIDATES = 8;

/**
 * A key set (RFC 7517 section 5) ready for look-ups by `kid`, `alg`, `use` and type. Throws an Error without key
 * material when the value is none, or holds a private or symmetric key, which has no business in a published set.
 */
export function keySetOf(value: unknown): KeySet {
  if (!isKeySet(value)) throw new Error('The answer is not a JSON Web Key Set');
  if (value.keys.some((key) => 'd' in key || 'k' in key)) throw new Error('The key set holds a private key');
  const local = createLocalJWKSet(value);
  return {
    find: async (header) => {
      try {
        return { outcome: 'found', keys: [await local({ ...header })] };
      } catch (error) {
        return several(error);
      }
    },
  };
}

async function several(error: unknown): ReturnType<KeySet['find']> {
  if (error instanceof errors.JWKSNoMatchingKey) return { outcome: 'unknown' };
  if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return unusable(error);
  const keys: CryptoKey[] = [];
  for await (const key of error) {
    keys.push(key);
    if (keys.length === MAX_CANDIDATES) break;
  }
  return { outcome: 'found', keys };
}

/** A key that cannot be imported. Its importer's message may describe the key, so only its name is kept. */
function unusable(error: unknown): { outcome: 'unknown'; cause: Error } {
  const name = error instanceof Error ? error.name : 'unknown error';
  return { outcome: 'unknown', cause: new Error(`A matching key of the set cannot be used (${name})`) };
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return isRecord(value) && Array.isArray(value.keys) && value.keys.every(isRecord);
}
