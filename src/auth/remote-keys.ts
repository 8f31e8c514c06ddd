import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { RemoteTimes } from './jwt-options.ts';
import type { KeyHeader, KeySet } from './key-set.ts';
import type { KeyAnswer, KeySource } from './keys.ts';

/** Wait after the first failed attempt while there are no keys at all; doubles up to the cool-down. */
const FIRST_RETRY_MS = 1000;

/** Told of each attempt to fetch the keys at its end. */
export type AttemptListener = (isGood: boolean) => void;

interface RemoteKeysDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly attempted: AttemptListener;
}

/**
 * The keys of a server, fetched when needed: at first use, when older than `cacheMaxAge`, and when a token names a key
 * not among them. All callers share one attempt, and attempts keep the cool-down whatever their outcome, so neither a
 * flood of unknown keys nor a dead server causes more. Keys too old serve `staleIfError` longer while attempts fail.
 */
export class RemoteKeys implements KeySource {
  readonly #load: (signal: AbortSignal) => Promise<KeySet>;
  readonly #times: RemoteTimes;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #attempted: AttemptListener;
  readonly #closed = new AbortController();
  #held: { set: KeySet; at: number } | undefined;
  #last: { at: number; failure: Error | undefined } | undefined;
  #failures = 0;
  #pending: Promise<void> | undefined;

  constructor(load: (signal: AbortSignal) => Promise<KeySet>, times: RemoteTimes, deps: RemoteKeysDeps) {
    this.#load = load;
    this.#times = times;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#attempted = deps.attempted;
  }

  async find(header: KeyHeader): Promise<KeyAnswer> {
    if (this.#age() > this.#times.cacheMaxAge) await this.#renew();
    const answer = await this.#lookUp(header);
    if (answer.outcome === 'found') return answer;
    await this.#refresh();
    return this.#lookUp(header);
  }

  close(): void {
    this.#closed.abort(new Error('The verifier is closed'));
  }

  async #lookUp(header: KeyHeader): Promise<KeyAnswer> {
    if (this.#held === undefined || !this.#servesStale()) return this.#unavailable();
    const answer = await this.#held.set.find(header);
    // The key may be new: as long as the server cannot be asked, nobody knows.
    return answer.outcome === 'unknown' && this.#last?.failure !== undefined ? this.#unavailable() : answer;
  }

  #unavailable(): KeyAnswer {
    const cause = this.#last?.failure ?? new Error('The keys could not be fetched');
    return { outcome: 'unavailable', cause, retryAfterMs: Math.max(FIRST_RETRY_MS, this.#wait()) };
  }

  /** While the server is known to fail, old keys serve at once and the next attempt runs beside: a stalled server delays nobody twice. */
  async #renew(): Promise<void> {
    const refreshed = this.#refresh();
    if (this.#last?.failure === undefined || !this.#servesStale()) await refreshed;
  }

  /** Joins the attempt under way, or makes one when it is time; resolves at once otherwise. */
  async #refresh(): Promise<void> {
    if (this.#pending === undefined && this.#wait() > 0) return;
    this.#pending ??= this.#attempt().finally(() => {
      this.#pending = undefined;
    });
    await this.#pending;
  }

  async #attempt(): Promise<void> {
    const at = this.#clock.elapsed();
    try {
      this.#held = { set: await this.#loadInTime(), at };
      this.#last = { at, failure: undefined };
      this.#attempted(true);
      this.#failures = 0;
    } catch (error) {
      const failure = error instanceof Error ? error : new Error('The keys could not be fetched');
      // From its end: an attempt that took its whole timeout must not be due again at once.
      this.#last = { at: this.#clock.elapsed(), failure };
      this.#failures += 1;
      this.#log.warn('keys_not_fetched', { err: failure });
      this.#attempted(false);
    }
  }

  async #loadInTime(): Promise<KeySet> {
    const late = new AbortController();
    const cancel = this.#clock.after(this.#times.timeout, () =>
      late.abort(new Error('The key server did not answer in time')),
    );
    try {
      return await this.#load(AbortSignal.any([late.signal, this.#closed.signal]));
    } finally {
      cancel();
    }
  }

  #age(): number {
    return this.#held === undefined ? Number.POSITIVE_INFINITY : this.#clock.elapsed() - this.#held.at;
  }

  #servesStale(): boolean {
    return this.#age() <= this.#times.cacheMaxAge + this.#times.staleIfError;
  }

  /** Milliseconds until the next attempt may begin. */
  #wait(): number {
    if (this.#last === undefined) return 0;
    const { cooldown } = this.#times;
    const spacing =
      this.#held === undefined ? Math.min(cooldown, FIRST_RETRY_MS * 2 ** (this.#failures - 1)) : cooldown;
    return Math.max(0, this.#last.at + spacing - this.#clock.elapsed());
  }
}
