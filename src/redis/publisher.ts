import type { Change } from '../ports/bus.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Counter, Meter } from '../ports/meter.ts';
import { Backlog } from './backlog.ts';
import { isAnswer, type Redis } from './connection.ts';
import { type Entries, fitsEntry, type Hint } from './entry.ts';

export interface PublisherOptions {
  readonly redis: Redis;
  readonly stream: string;
  readonly entries: Entries;
  /** Of this process. */
  readonly identity: string;
  readonly clock: Clock;
  readonly meter: Meter;
  /** Milliseconds within which clients are told of an update once: it is written twice at most. */
  readonly coalesceMs: number;
  /** `refusal` is another one. */
  readonly changed: () => void;
}

interface Numbered {
  readonly hint: Hint;
  readonly number: number;
}

/** Entries the stream keeps, about. */
const KEPT = '10000';
/** Entries written without waiting for the answers to those before. */
const WINDOW = 64;
/** Milliseconds from one window to the next: a list that changes again and again meanwhile is one entry. */
const PAUSE_MS = 25;
const RETRY_MS = 1000;

/** Writes what this replica publishes into the stream, in order; what cannot be written now, when it can, each change once. */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #published: Counter;
  readonly #lost: Counter;
  readonly #waiting: Backlog;
  /** Numbered, and not known to be in the stream. */
  #open: Numbered[] = [];
  #number = 0;
  #refusal: string | undefined;
  #isWriting = false;
  #written: Promise<void> = Promise.resolve();
  #cancelRetry: Cancel = () => {};
  #endPause: () => void = () => {};
  readonly #unwatch: () => void;
  #closed = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#waiting = new Backlog({ coalesceMs: options.coalesceMs, elapsed: () => options.clock.elapsed() });
    this.#published = options.meter.counter('bus_entries_total', { stage: 'published' });
    this.#lost = options.meter.counter('bus_entries_total', { stage: 'lost' });
    this.#unwatch = options.redis.onState((isUp) => isUp && this.#write());
  }

  /** Why the server refused what it was given last; undefined where it took it. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  publish(change: Change): void {
    if (this.#closed) return;
    if (!fitsEntry(change)) return this.#lost.add();
    if (!this.#waiting.keep(change)) this.#lost.add();
    this.#write();
  }

  /** Resolves when what waits is written, or cannot be at once. Nothing is published from then on. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unwatch();
    this.#endPause();
    await this.#written;
    this.#cancelRetry();
  }

  #write(): void {
    this.#cancelRetry();
    if (!this.#isWriting) this.#written = this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    let isGood = true;
    while (isGood && this.#options.redis.isUp) {
      this.#numberNext();
      if (this.#open.length === 0 && this.#waiting.isEmpty) break;
      isGood = await this.#writeOpen();
      if (isGood && !this.#closed) await this.#pause();
    }
    this.#isWriting = false;
    if (!isGood && !this.#closed) this.#cancelRetry = this.#options.clock.after(RETRY_MS, () => this.#write());
  }

  async #pause(): Promise<void> {
    let cancel: Cancel = () => {};
    await new Promise<void>((resolve) => {
      this.#endPause = resolve;
      cancel = this.#options.clock.after(PAUSE_MS, resolve);
    });
    cancel();
  }

  /** Whether the server took all of it. */
  async #writeOpen(): Promise<boolean> {
    const window = this.#open;
    return this.#settle(window, await Promise.allSettled(window.map((each) => this.#add(each))));
  }

  /** What is left of a failed window goes first and alone. */
  #numberNext(): void {
    if (this.#open.length > 0) return;
    this.#open = this.#waiting.take(WINDOW, this.#closed).map((hint) => this.#numbered(hint));
  }

  #numbered(hint: Hint): Numbered {
    this.#number += 1;
    return { hint, number: this.#number };
  }

  async #add({ hint, number }: Numbered): Promise<void> {
    const { redis, stream, entries, identity } = this.#options;
    const fields = entries.write({ from: identity, number, hint });
    await redis.send(stream, ['XADD', stream, 'MAXLEN', '~', KEPT, '*', ...fields]);
  }

  /** Keeps what failed. Under its number, so that one that was written all the same is heard once; but behind a later one that was written it would not be heard at all. */
  #settle(window: readonly Numbered[], outcomes: readonly PromiseSettledResult<void>[]): boolean {
    const written = outcomes.filter(({ status }) => status === 'fulfilled').length;
    const lastWritten = outcomes.findLastIndex(({ status }) => status === 'fulfilled');
    const failed = (_: Numbered, at: number) => outcomes[at]?.status === 'rejected';
    const behind = window.slice(0, lastWritten + 1).filter(failed);
    this.#open = [...window.slice(lastWritten + 1), ...behind.map(({ hint }) => this.#numbered(hint))];
    this.#published.add(written);
    this.#judge(outcomes.find((outcome) => outcome.status === 'rejected'));
    return written === window.length;
  }

  #judge(failure: PromiseRejectedResult | undefined): void {
    const reason: unknown = failure?.reason;
    const before = this.#refusal;
    if (failure === undefined) this.#refusal = undefined;
    else if (isAnswer(reason) && reason instanceof Error) this.#refusal = reason.message;
    if (before !== this.#refusal) this.#options.changed();
  }
}
