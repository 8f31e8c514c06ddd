import type { Principal } from '../auth/principal.ts';
import type { Snapshot } from '../catalogue/catalogue.ts';
import type { Grants } from '../policy/access.ts';
import type { Clock } from '../ports/clock.ts';
import type { Links } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { Seal } from '../ports/seal.ts';
import type { Renewal } from '../ports/verifier.ts';
import type { CallRecorder } from './call-recorder.ts';
import type { Rates } from './rates.ts';
import type { VendorMethods } from './vendor-methods.ts';

/** What every session shares: the gateway as sessions see it. */
export interface Gateway {
  readonly links: Links;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly recorder: CallRecorder;
  readonly vendor: VendorMethods;
  /** What each principal may still send. */
  readonly rates: Rates;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Of what modern clients bring back. */
  readonly seal: Seal;
  /** Takes what was sealed once; false the second time. */
  readonly spend: (principal: string, nonce: string, expiresAt: number) => boolean;
  /** What was taken served nothing: it may be taken once more. */
  readonly unspend: (principal: string, nonce: string, expiresAt: number) => void;
  /** Of tokens on open sockets; absent where nobody comes by a token. */
  readonly renewal: Renewal | undefined;
  readonly limits: SessionLimits;
  snapshot(): Snapshot;
  /** An upstream's tools may have changed. Resolves when they have been listed anew, or are not to be so soon. */
  relistTools(upstream: string): Promise<unknown>;
  grants(principal: Principal): Grants;
  /** Resolves when every upstream has answered or failed once, or after 3 s. */
  firstAnswers(): Promise<void>;
}

/** Milliseconds, bytes and counts from the configuration. */
export interface SessionLimits {
  readonly depth: number;
  readonly outbox: number;
  readonly inFlight: number;
  readonly subscriptions: number;
  readonly firstMessage: number;
  readonly clockTolerance: number;
  readonly expiryGrace: number;
  readonly listChangeCoalesce: number;
  /** Null: no socket is too old. */
  readonly connectionAge: number | null;
  readonly drain: { readonly inFlight: number };
}
