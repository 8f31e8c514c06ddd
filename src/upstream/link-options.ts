import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { Dial } from '../ports/transport.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import type { Era } from '../protocol/era.ts';
import type { DeadlineLimits } from './deadline.ts';

export interface LinkOptions {
  readonly upstream: string;
  readonly isolation: 'session' | 'shared';
  /** What is declared to the upstream. */
  readonly capabilities: ClientCapabilities;
  /** Hears of changes of lists; a link of the handshake era always does. */
  readonly hearsLists: boolean;
  /** Milliseconds for connect and the opening exchange together. */
  readonly startTimeout: number;
  /** Limits of a relayed call. */
  readonly call: DeadlineLimits;
  /** Calls in flight on this link at most. */
  readonly concurrency: number;
  readonly maxDepth: number;
  /** What may wait for an upstream that does not read, in bytes; beyond it calls are refused. */
  readonly maxBacklog: number;
}

export interface LinkDeps {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly random: () => number;
  /** More waits for the upstream than is worth no thought. Called often. */
  readonly growing?: () => void;
  /** The upstream has denied the era the link was opened in. */
  readonly distrust: () => void;
}

/** How one link is opened. */
export interface Opening {
  readonly era: Era;
  /** Milliseconds for it, and what is said when they are over. */
  readonly within: number;
  readonly over: string;
  /** Aborts when nobody wants the link any more. */
  readonly signal: AbortSignal | undefined;
}
