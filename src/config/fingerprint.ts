import { createHash } from 'node:crypto';
import type { Config } from './schema.ts';

/** Keys whose values are secrets wherever they stand: twelve digits of a hash are enough to guess a weak one. */
const SECRET: ReadonlySet<string> = new Set(['headers', 'env', 'secret', 'seal', 'redis']);

/**
 * Twelve hex digits that tell two configurations apart: equal on replicas that run the same. Secrets take no part in it, and
 * neither do texts that came by substitution, which may be secrets. Order counts in lists, not in mappings.
 */
export function fingerprint(config: Config, substituted: ReadonlySet<string>): string {
  const text = JSON.stringify(config, (key, value: unknown) => {
    if (SECRET.has(key)) return undefined;
    if (typeof value === 'string') return substituted.has(value) ? undefined : value;
    return isRecord(value) ? Object.fromEntries(Object.entries(value).sort(byKey)) : value;
  });
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
