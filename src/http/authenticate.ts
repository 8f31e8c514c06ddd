import type { Socket } from 'node:net';
import {
  insufficientScopeChallenge,
  invalidTicketChallenge,
  invalidTokenChallenge,
  missingTokenChallenge,
  type ResourceOptions,
} from '../auth/challenge.ts';
import { type CertificateFault, certificateJudge } from '../auth/client-certificate.ts';
import { CERTIFICATE_ISSUER, type Identity } from '../auth/principal.ts';
import { holdsScopes } from '../auth/scopes.ts';
import type { Tickets } from '../auth/ticket.ts';
import { verdictCounter } from '../auth/verdict-counter.ts';
import type { AuthConfig } from '../config/schema.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { Verifier } from '../ports/verifier.ts';
import type { Refused } from './refusals.ts';

/** Turns a token into an identity, or into the refusal the caller gets. */
export type Authenticate = (token: string) => Promise<{ readonly identity: Identity } | Refused>;

/** In `jwt` mode. Counts every verdict; the token itself goes nowhere but to the verifier. */
export function jwtAuthentication(verifier: Verifier, resource: ResourceOptions, meter: Meter): Authenticate {
  const count = verdictCounter(meter, resource.issuers);
  return async (token) => {
    const verified = await verifier.verify(token);
    count(verified.outcome === 'accepted' ? { ...verified, issuer: verified.identity.issuer } : verified);
    if (verified.outcome === 'unavailable') {
      return { refused: 'keys_unavailable', cause: verified.cause, retryAfterMs: verified.retryAfterMs };
    }
    if (verified.outcome === 'refused') {
      return {
        refused: 'invalid_token',
        fault: verified.reason,
        challenge: invalidTokenChallenge(resource, verified.reason),
        ...because(verified.cause),
      };
    }
    const { identity } = verified;
    if (holdsScopes(identity.scopes, resource.requiredScopes)) return { identity };
    return { refused: 'insufficient_scope', challenge: insufficientScopeChallenge(resource), identity };
  };
}

/** Turns a ticket, and the Origin it came from, into the identity of the token it was given for. */
export type Redeem = (ticket: string, origin: string | undefined) => Promise<{ readonly identity: Identity } | Refused>;

/** Counts every verdict. Nothing says why a ticket is refused: who guesses learns nothing. */
export function ticketRedemption(tickets: Tickets, resource: ResourceOptions, meter: Meter): Redeem {
  const count = verdictCounter(meter, resource.issuers);
  return async (ticket, origin) => {
    try {
      const identity = await tickets.spend(ticket, origin);
      if (identity === undefined) {
        count({ outcome: 'refused', reason: 'ticket' });
        return { refused: 'invalid_ticket', challenge: invalidTicketChallenge(resource) };
      }
      count({ outcome: 'accepted', issuer: identity.issuer });
      return { identity };
    } catch (error) {
      count({ outcome: 'unavailable' });
      return { refused: 'tickets', ...because(error instanceof Error ? error : undefined) };
    }
  };
}

/** Turns the certificate of a connection into an identity, or says why there is none; `request` is what the log calls it. */
export type Certify = (
  socket: Socket,
  request: string,
) => { readonly identity: Identity } | { readonly refused: CertificateFault | 'no_certificate' };

/**
 * Undefined in `anonymous` mode, where certificates are not asked. Counts every verdict; of a certificate that an authority
 * vouches for, the log tells the names an entry could give.
 */
export function certificateAuthentication(
  auth: AuthConfig,
  { clock, log, meter }: { readonly clock: Clock; readonly log: Log; readonly meter: Meter },
): Certify | undefined {
  if (auth.mode === 'anonymous') return undefined;
  const judge = certificateJudge(auth.certificates, clock);
  const count = verdictCounter(meter, []);
  return (socket, request) => {
    const verdict = judge(socket);
    if (verdict.outcome === 'none') return { refused: 'no_certificate' };
    count({ ...verdict, issuer: CERTIFICATE_ISSUER });
    if (verdict.outcome === 'accepted') return { identity: verdict.identity };
    log.info('certificate_refused', { request, reason: verdict.reason, ...verdict.names });
    return { refused: verdict.reason };
  };
}

export function noTokenRefusal(resource: ResourceOptions): Refused {
  return { refused: 'no_token', challenge: missingTokenChallenge(resource) };
}

function because(cause: Error | undefined): { cause?: Error } {
  return cause === undefined ? {} : { cause };
}
