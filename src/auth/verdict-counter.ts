import type { Counters, Meter } from '../ports/meter.ts';
import { CERTIFICATE_ISSUER } from './principal.ts';

interface Verdict {
  readonly outcome: Counters['auth_total']['outcome'];
  /** Why it is refused. */
  readonly reason?: string | undefined;
  /** Absent where none is known. */
  readonly issuer?: string | undefined;
}

/** Counts what became of tokens, tickets and certificates by issuer. One that the configuration does not name counts as `other`: no label comes from a caller. */
export function verdictCounter(
  meter: Meter,
  issuers: readonly { readonly issuer: string }[],
): (verdict: Verdict) => void {
  const known = new Set([CERTIFICATE_ISSUER, ...issuers.map(({ issuer }) => issuer)]);
  return ({ outcome, reason = '', issuer }) => {
    const label = issuer === undefined ? unnamed(reason) : known.has(issuer) ? issuer : 'other';
    meter.counter('auth_total', { issuer: label, outcome, reason }).add();
  };
}

function unnamed(reason: string): string {
  return reason === 'unknown_issuer' ? 'other' : 'none';
}
