import { z } from 'zod';
import { duration, flag, type Immutable, says, text } from './schema-kinds.ts';
import { isSafeToFetch } from './schema-loopback.ts';
import { parseDuration } from './units.ts';

const FETCH_DEFAULTS = { timeout: '5s', cacheMaxAge: '10m', cooldown: '30s', staleIfError: '24h' };

const keys = z.strictObject({
  jwksUri: says(text('an https URL, or http to loopback', isSafeToFetch).exactOptional(), 'URL of the key set.'),
  discovery: says(flag().exactOptional(), 'true: the key set is found through the metadata of the issuer.'),
  jwksFile: says(text('the path of a file').exactOptional(), 'File with the key set.'),
  secret: says(
    text('text of at least 32 bytes', (value) => new TextEncoder().encode(value).length >= 32).exactOptional(),
    'Shared secret for HS256; loopback listeners only.',
  ),
  timeout: says(duration().exactOptional(), 'How long fetching keys may take.', FETCH_DEFAULTS.timeout),
  cacheMaxAge: says(
    duration().exactOptional(),
    'How long fetched keys are used without asking again.',
    FETCH_DEFAULTS.cacheMaxAge,
  ),
  cooldown: says(
    duration('zero').exactOptional(),
    'How long after a fetch an unknown key causes no other.',
    FETCH_DEFAULTS.cooldown,
  ),
  staleIfError: says(
    duration('zero').exactOptional(),
    'How long fetched keys are used while the key server fails.',
    FETCH_DEFAULTS.staleIfError,
  ),
});

type Keys = z.output<typeof keys>;

interface Fetching {
  timeout: number;
  cacheMaxAge: number;
  cooldown: number;
  staleIfError: number;
}

type Source =
  | ({ source: 'jwksUri'; jwksUri: string } & Fetching)
  | ({ source: 'discovery'; discovery: true } & Fetching)
  | { source: 'jwksFile'; jwksFile: string }
  | { source: 'secret'; secret: string };

/** Where the keys of an issuer come from. The timing keys belong to the fetched ones alone. */
export type KeySource = Immutable<Source>;

export const keysSchema = keys.transform((found, context): Source => {
  const source = sourceOf(found);
  if (source === undefined) {
    context.addIssue({
      code: 'custom',
      message: 'must hold exactly one of jwksUri, discovery: true, jwksFile, secret',
    });
    return z.NEVER;
  }
  for (const key of timingWithout(source, found)) {
    context.addIssue({ code: 'custom', message: `does not apply to ${source.source}; remove it`, path: [key] });
  }
  return source;
});

function sourceOf(found: Keys): Source | undefined {
  const sources: Source[] = [];
  if (found.jwksUri !== undefined) sources.push({ source: 'jwksUri', jwksUri: found.jwksUri, ...fetching(found) });
  if (found.discovery === true) sources.push({ source: 'discovery', discovery: true, ...fetching(found) });
  if (found.jwksFile !== undefined) sources.push({ source: 'jwksFile', jwksFile: found.jwksFile });
  if (found.secret !== undefined) sources.push({ source: 'secret', secret: found.secret });
  return sources.length === 1 ? sources[0] : undefined;
}

function fetching(found: Keys): Fetching {
  return {
    timeout: found.timeout ?? fallback('timeout'),
    cacheMaxAge: found.cacheMaxAge ?? fallback('cacheMaxAge'),
    cooldown: found.cooldown ?? fallback('cooldown'),
    staleIfError: found.staleIfError ?? fallback('staleIfError'),
  };
}

function fallback(key: keyof typeof FETCH_DEFAULTS): number {
  return parseDuration(FETCH_DEFAULTS[key]) ?? 0;
}

function timingWithout(source: Source, found: Keys): (keyof Fetching)[] {
  if ('timeout' in source) return [];
  return (['timeout', 'cacheMaxAge', 'cooldown', 'staleIfError'] as const).filter((key) => found[key] !== undefined);
}
