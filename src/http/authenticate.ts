import {
  insufficientScopeChallenge,
  invalidTokenChallenge,
  missingTokenChallenge,
  type ResourceOptions,
} from '../auth/challenge.ts';
import type { Identity } from '../auth/principal.ts';
import { holdsScopes } from '../auth/scopes.ts';
import type { Meter } from '../ports/meter.ts';
import type { Verifier } from '../ports/verifier.ts';
import type { Refused } from './refusals.ts';

/** Turns a token into an identity, or into the refusal the caller gets. */
export type Authenticate = (token: string) => Promise<{ readonly identity: Identity } | Refused>;

/** In `jwt` mode. Counts every verdict; the token itself goes nowhere but to the verifier. */
export function jwtAuthentication(verifier: Verifier, resource: ResourceOptions, meter: Meter): Authenticate {
  return async (token) => {
    const verified = await verifier.verify(token);
    const reason = verified.outcome === 'refused' ? verified.reason : '';
    meter.counter('auth_total', { outcome: verified.outcome, reason }).add();
    if (verified.outcome === 'unavailable') {
      return { refused: 'keys_unavailable', cause: verified.cause, retryAfterMs: verified.retryAfterMs };
    }
    if (verified.outcome === 'refused') {
      return {
        refused: 'invalid_token',
        challenge: invalidTokenChallenge(resource, verified.reason),
        ...because(verified.cause),
      };
    }
    if (holdsScopes(verified.identity.scopes, resource.requiredScopes)) return { identity: verified.identity };
    return { refused: 'insufficient_scope', challenge: insufficientScopeChallenge(resource) };
  };
}

export function noTokenRefusal(resource: ResourceOptions): Refused {
  return { refused: 'no_token', challenge: missingTokenChallenge(resource) };
}

function because(cause: Error | undefined): { cause?: Error } {
  return cause === undefined ? {} : { cause };
}
