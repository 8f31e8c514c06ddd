import type { Meter } from '../ports/meter.ts';
import type { Renewal, Renewed, Verifier } from '../ports/verifier.ts';
import { type Identity, principalKey } from './principal.ts';
import { holdsScopes } from './scopes.ts';

export interface RenewalOptions {
  readonly issuers: readonly { readonly issuer: string }[];
  readonly requiredScopes: readonly string[];
}

/** Judges a token as an upgrade does, and besides that it is of whoever holds the session. Counts every verdict; the token itself goes nowhere but to the verifier. */
export function tokenRenewal(verifier: Verifier, { issuers, requiredScopes }: RenewalOptions, meter: Meter): Renewal {
  const known = new Set(issuers.map(({ issuer }) => issuer));
  return {
    serves: ({ issuer }) => known.has(issuer),
    renew: async (token, holder) => {
      const renewed = judged(await verifier.verify(token), holder, requiredScopes);
      const reason = renewed.outcome === 'refused' ? renewed.reason : '';
      meter.counter('auth_total', { outcome: renewed.outcome, reason }).add();
      return renewed;
    },
  };
}

function judged(verified: Renewed, holder: Identity, requiredScopes: readonly string[]): Renewed {
  if (verified.outcome !== 'accepted') return verified;
  const { identity } = verified;
  if (principalKey(identity) !== principalKey(holder)) return { outcome: 'refused', reason: 'other_principal' };
  return holdsScopes(identity.scopes, requiredScopes) ? verified : { outcome: 'refused', reason: 'insufficient_scope' };
}
