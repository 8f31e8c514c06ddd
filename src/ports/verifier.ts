import type { Identity } from '../auth/principal.ts';

/** Judges a bearer token. Never throws and never quotes the token. */
export interface Verifier {
  verify(token: string): Promise<Verification>;
  close(): Promise<void>;
}

/** `issuer` is the configured one whose keys and rules decided; absent where none did. */
export type Verification =
  | { readonly outcome: 'accepted'; readonly identity: Identity }
  | { readonly outcome: 'refused'; readonly reason: RefusedReason; readonly cause?: Error; readonly issuer?: string }
  /** Keys could not be had: not the caller's fault (503, not 401). */
  | { readonly outcome: 'unavailable'; readonly retryAfterMs: number; readonly cause: Error; readonly issuer?: string };

export type RefusedReason =
  | 'malformed'
  | 'unknown_issuer'
  | 'bad_signature'
  | 'bad_algorithm'
  | 'unknown_key'
  | 'expired'
  | 'not_yet_valid'
  | 'no_expiry'
  | 'life_too_long'
  | 'wrong_audience'
  | 'missing_claim'
  | 'no_subject';

/** Judges the token with which a session is to go on. Never throws and never quotes the token. */
export interface Renewal {
  /** Whether this principal came by a token, so that another may take its place. */
  serves(holder: Identity): boolean;
  /** Accepted only with the (issuer, id) of `holder` and every required scope. */
  renew(token: string, holder: Identity): Promise<Renewed>;
}

export type Renewed =
  | Verification
  | {
      readonly outcome: 'refused';
      readonly reason: RenewalRefusedReason;
      readonly cause?: Error;
      readonly issuer?: string;
    };

/** Why a good token cannot take the place of another. */
export type RenewalRefusedReason = 'other_principal' | 'insufficient_scope';
