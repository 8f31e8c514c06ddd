import type { Cancel, Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { AnsweredError, asFault } from '../protocol/errors.ts';
import { backoff } from '../upstream/backoff.ts';

export interface KeptSubscriptionsDeps {
  /** Rejects with a Fault, or with an AnsweredError where the owner refuses. */
  readonly subscribe: (uri: string) => Promise<void>;
  /** Resolves also where the link is gone: the subscription went with it. */
  readonly unsubscribe: (uri: string) => Promise<void>;
  /** Subscribed to after failures: what changed since the wish went unheard. */
  readonly late: (uri: string) => void;
  readonly clock: Clock;
  /** From 0 to 1, one for all: what fails together is tried again together, which is one attempt to reach the owner. */
  readonly jitter: number;
  /** Failures told of at `warn`; more go to `debug`. */
  readonly maxWarnings: number;
  readonly log: Log;
}

/** `busy`: an operation is under way. `waiting`: to be tried again. `refused`: by the owner, not tried again. */
interface Kept {
  readonly uri: string;
  state: 'idle' | 'busy' | 'held' | 'waiting' | 'refused';
  failures: number;
  stopRetry: Cancel;
}

const LOGGED_CHARS = 256;

/**
 * Makes what is subscribed to at the owners what is wanted: one operation at a time for each URI, after which the latest
 * wish counts. A subscribe that fails with a Fault is tried again, after 1 s doubling to 30 s, for as long as it is wanted.
 * What is wanted at once is for the caller to bound; `leaving` is what it no longer wants but still costs.
 */
export class KeptSubscriptions {
  private readonly deps: KeptSubscriptionsDeps;
  private readonly all = new Map<string, Kept>();
  private readonly unwanted = new Set<string>();
  private readonly warned = new Set<string>();
  private closed = false;

  constructor(deps: KeptSubscriptionsDeps) {
    this.deps = deps;
  }

  /** URIs with an operation under way that nobody wants any more. */
  get leaving(): number {
    return this.unwanted.size;
  }

  isLeaving(uri: string): boolean {
    return this.unwanted.has(uri);
  }

  /** Idempotent; one that its owner refused is asked for once more. */
  want(uri: string): void {
    if (this.closed) return;
    this.unwanted.delete(uri);
    const kept = this.all.get(uri) ?? { uri, state: 'idle', failures: 0, stopRetry: () => {} };
    this.all.set(uri, kept);
    if (kept.state === 'idle' || kept.state === 'refused') this.begin(kept);
  }

  drop(uri: string): void {
    const kept = this.all.get(uri);
    if (kept === undefined) return;
    this.unwanted.add(uri);
    if (kept.state === 'held') this.end(kept);
    else if (kept.state !== 'busy') this.forget(kept);
  }

  /** Nothing is begun afterwards; what is held ends with the session's links. */
  close(): void {
    this.closed = true;
    for (const kept of this.all.values()) kept.stopRetry();
    this.all.clear();
    this.unwanted.clear();
  }

  private begin(kept: Kept): void {
    kept.state = 'busy';
    this.deps.subscribe(kept.uri).then(
      () => this.subscribed(kept),
      (cause: unknown) => this.failed(kept, cause),
    );
  }

  private end(kept: Kept): void {
    kept.state = 'busy';
    kept.failures = 0;
    const { uri } = kept;
    const failed = (cause: unknown) => this.warn(uri, reasonOf(cause));
    void this.deps
      .unsubscribe(uri)
      .catch(failed)
      .then(() => this.unsubscribed(kept));
  }

  private subscribed(kept: Kept): void {
    if (this.closed) return;
    if (this.isLeaving(kept.uri)) return this.end(kept);
    kept.state = 'held';
    const isLate = kept.failures > 0;
    kept.failures = 0;
    if (isLate) this.deps.late(kept.uri);
  }

  private failed(kept: Kept, cause: unknown): void {
    if (this.closed) return;
    if (this.isLeaving(kept.uri)) return this.forget(kept);
    this.warn(kept.uri, reasonOf(cause));
    if (cause instanceof AnsweredError) {
      kept.state = 'refused';
      return;
    }
    kept.state = 'waiting';
    kept.failures += 1;
    const { clock, jitter } = this.deps;
    kept.stopRetry = clock.after(backoff(kept.failures + 1, jitter), () => this.begin(kept));
  }

  private unsubscribed(kept: Kept): void {
    if (this.closed) return;
    if (this.isLeaving(kept.uri)) this.forget(kept);
    else this.begin(kept);
  }

  private forget({ uri, stopRetry }: Kept): void {
    stopRetry();
    this.all.delete(uri);
    this.unwanted.delete(uri);
  }

  /** Once for each URI and reason, however often it is tried or wanted anew. */
  private warn(uri: string, reason: string): void {
    const key = `${reason} ${uri}`;
    if (this.warned.has(key)) return;
    const { log, maxWarnings } = this.deps;
    const fields = { uri: withoutQuery(uri).slice(0, LOGGED_CHARS), reason };
    if (this.warned.size >= maxWarnings) return log.debug('listen_failed', fields);
    this.warned.add(key);
    log.warn('listen_failed', fields);
  }
}

/** What is behind a `?` is the caller's, as arguments are. */
function withoutQuery(uri: string): string {
  const at = uri.search(/[?#]/);
  return at === -1 ? uri : uri.slice(0, at);
}

function reasonOf(cause: unknown): string {
  return cause instanceof AnsweredError ? `error ${cause.error.code}` : asFault(cause).reason;
}
