import { readFileSync } from 'node:fs';
import type { CryptoKey } from 'jose';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { discoveredKeySet } from './discovery.ts';
import { type Fetch, fetchJson } from './fetch-json.ts';
import type { IssuerOptions, KeyOptions, RemoteTimes } from './jwt-options.ts';
import { trustedUrl } from './key-server-url.ts';
import { type KeyHeader, keySetOf } from './key-set.ts';
import { type AttemptListener, RemoteKeys } from './remote-keys.ts';

/** Where one issuer's verification keys come from. */
export interface KeySource {
  /** The keys that may have signed a token with this header. Never throws. */
  find(header: KeyHeader): Promise<KeyAnswer>;
  /** Ends what is under way; idempotent. */
  close(): void;
}

export type KeyAnswer =
  | { readonly outcome: 'found'; readonly keys: readonly (CryptoKey | Uint8Array)[] }
  | { readonly outcome: 'unknown'; readonly cause?: Error }
  | { readonly outcome: 'unavailable'; readonly cause: Error; readonly retryAfterMs: number };

export interface KeyDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: Meter;
  readonly fetch: Fetch;
}

/** HMAC keys shorter than the hash weaken it (RFC 7518 section 3.2). */
const MIN_SECRET_BYTES = 32;
const ASYMMETRIC: readonly string[] = [
  'ES256',
  'RS256',
  'EdDSA',
  'ES384',
  'ES512',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
];
const DEFAULT_ASYMMETRIC: readonly string[] = ['ES256', 'RS256', 'EdDSA'];

/**
 * The algorithms an issuer's tokens may have. A secret means HS256 alone and public keys never HMAC, so no token can
 * turn one kind of key into the other. Throws an Error with a sentence when the configuration asks for it.
 */
export function algorithmsOf(issuer: IssuerOptions): readonly string[] {
  const usable = 'secret' in issuer.keys ? ['HS256'] : ASYMMETRIC;
  const wanted = issuer.algorithms ?? ('secret' in issuer.keys ? usable : DEFAULT_ASYMMETRIC);
  const unusable = wanted.find((algorithm) => !usable.includes(algorithm));
  if (wanted.length === 0) throw new Error(`Issuer ${issuer.issuer}: algorithms is empty`);
  if (unusable !== undefined) {
    throw new Error(
      `Issuer ${issuer.issuer}: algorithm ${unusable} does not fit its keys; usable are ${usable.join(', ')}`,
    );
  }
  return wanted;
}

/** Opens an issuer's keys. Throws an Error with a sentence when a file or an address cannot be used; nothing is fetched yet. */
export function keySource(issuer: IssuerOptions, deps: KeyDeps): KeySource {
  const { keys } = issuer;
  if ('secret' in keys) return secretKey(issuer.issuer, keys.secret);
  if ('jwksFile' in keys) return fileKeys(issuer.issuer, keys.jwksFile);
  return new RemoteKeys(loader(issuer.issuer, keys, deps.fetch), keys, {
    clock: deps.clock,
    log: deps.log.child({ issuer: issuer.issuer }),
    attempted: attemptsShown(issuer.issuer, keys, deps),
  });
}

/** Shows what an alert on old keys compares: when they were fetched, how old they are meant to become, and whether the last attempt failed. */
function attemptsShown(issuer: string, { cacheMaxAge }: RemoteTimes, { clock, meter }: KeyDeps): AttemptListener {
  meter?.gauge('keys_max_age_seconds', { issuer }).set(cacheMaxAge / 1000);
  const fetched = meter?.gauge('keys_fetched_timestamp_seconds', { issuer });
  const successful = meter?.gauge('keys_last_fetch_successful', { issuer });
  successful?.set(1);
  return (isGood) => {
    successful?.set(isGood ? 1 : 0);
    if (isGood) fetched?.set(clock.now() / 1000);
  };
}

function loader(issuer: string, keys: Exclude<KeyOptions, { secret: string } | { jwksFile: string }>, fetch: Fetch) {
  if ('discovery' in keys)
    return discoveredKeySet(trustedUrl(issuer, `Issuer ${issuer} cannot be discovered: it`), issuer, fetch);
  const url = trustedUrl(keys.jwksUri, `Issuer ${issuer}: jwksUri`);
  return async (signal: AbortSignal) => keySetOf(await fetchJson(url, { fetch, signal }));
}

function secretKey(issuer: string, secret: string): KeySource {
  const key = new TextEncoder().encode(secret);
  if (key.length < MIN_SECRET_BYTES)
    throw new Error(`Issuer ${issuer}: secret is shorter than ${MIN_SECRET_BYTES} bytes`);
  return { find: async () => ({ outcome: 'found', keys: [key] }), close: () => undefined };
}

function fileKeys(issuer: string, path: string): KeySource {
  const set = readKeySet(issuer, path);
  return { find: (header) => set.find(header), close: () => undefined };
}

/** The parser's error quotes the file, so it is not passed on. */
function readKeySet(issuer: string, path: string) {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`Issuer ${issuer}: jwksFile cannot be read`, { cause });
  }
  try {
    return keySetOf(JSON.parse(text));
  } catch {
    throw new Error(`Issuer ${issuer}: jwksFile is not a JSON Web Key Set of public keys`);
  }
}
