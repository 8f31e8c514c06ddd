import type { Identity } from '../auth/principal.ts';
import type { RefusedReason } from '../ports/verifier.ts';

/** Why an upgrade, or a request for a ticket, is refused: one closed table. The body names the word and nothing else. */
export const REFUSALS = {
  not_an_upgrade: { status: 426, retryAfter: null },
  overloaded: { status: 503, retryAfter: 5 },
  handshakes: { status: 503, retryAfter: 1 },
  handshakes_per_address: { status: 429, retryAfter: 1 },
  pending: { status: 503, retryAfter: 1 },
  draining: { status: 503, retryAfter: 5 },
  websocket: { status: 400, retryAfter: null },
  forwarded: { status: 403, retryAfter: null },
  host: { status: 403, retryAfter: null },
  origin: { status: 403, retryAfter: null },
  subprotocol: { status: 400, retryAfter: null },
  token_carriage: { status: 400, retryAfter: null },
  no_token: { status: 401, retryAfter: null },
  invalid_token: { status: 401, retryAfter: null },
  invalid_ticket: { status: 401, retryAfter: null },
  insufficient_scope: { status: 403, retryAfter: null },
  keys_unavailable: { status: 503, retryAfter: 5 },
  connections: { status: 503, retryAfter: 5 },
  connections_per_address: { status: 429, retryAfter: 5 },
  connections_per_principal: { status: 429, retryAfter: 5 },
  body: { status: 413, retryAfter: null },
  tickets: { status: 503, retryAfter: 5 },
  tickets_per_principal: { status: 429, retryAfter: 30 },
} as const;

export type RefusalReason = keyof typeof REFUSALS;

export interface Refused {
  readonly refused: RefusalReason;
  /** The WWW-Authenticate value, on 401 and on insufficient_scope (RFC 6750 section 3). */
  readonly challenge?: string;
  readonly cause?: Error;
  /** What is wrong with a token: for the log alone. */
  readonly fault?: RefusedReason;
  /** Whose it was, where that was verified. */
  readonly identity?: Pick<Identity, 'issuer' | 'id'>;
  /** In place of the row's, where more is known. */
  readonly retryAfterMs?: number;
}
