import type { Identity } from '../auth/principal.ts';

/** Judges a bearer token. Never throws and never quotes the token. */
export interface Verifier {
  verify(token: string): Promise<Verification>;
  close(): Promise<void>;
}

export type Verification =
  | { readonly outcome: 'accepted'; readonly identity: Identity }
  | { readonly outcome: 'refused'; readonly reason: RefusedReason; readonly cause?: Error }
  /** Keys could not be had: not the caller's fault (503, not 401). */
  | { readonly outcome: 'unavailable'; readonly retryAfterMs: number; readonly cause: Error };

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
