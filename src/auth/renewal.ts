import type { Meter } from '../ports/meter.ts';
import type { Renewal, Renewed, Verifier } from '../ports/verifier.ts';
import { type Identity, principalKey } from './principal.ts';
import { holdsScopes } from './scopes.ts';
import { verdictCounter } from './verdict-counter.ts';

export interface RenewalOptions {
  readonly issuers: readonly { readonly issuer: string }[];
  readonly requiredScopes: readonly string[];
}

/** Judges a token as an upgrade does, and besides that it is of whoever holds the session. Counts every verdict; the token itself goes nowhere but to the verifier. */
export function tokenRenewal(verifier: Verifier, { issuers, requiredScopes }: RenewalOptions, meter: Meter): Renewal {
  const known = new Set(issuers.map(({ issuer }) => issuer));
  const count = verdictCounter(meter, issuers);
  return {
    serves: ({ issuer }) => known.has(issuer),
    renew: async (token, holder) => {
      const renewed = judged(await verifier.verify(token), holder, requiredScopes);
      count(renewed.outcome === 'accepted' ? { ...renewed, issuer: renewed.identity.issuer } : renewed);
      return renewed;
    },
  };
}

function judged(verified: Renewed, holder: Identity, requiredScopes: readonly string[]): Renewed {
  if (verified.outcome !== 'accepted') return verified;
  const { identity } = verified;
  const { issuer } = identity;
  if (principalKey(identity) !== principalKey(holder)) return { outcome: 'refused', reason: 'other_principal', issuer };
  const isEnough = holdsScopes(identity.scopes, requiredScopes);
  return isEnough ? verified : { outcome: 'refused', reason: 'insufficient_scope', issuer };
}
