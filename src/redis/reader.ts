import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Cancel, Clock } from '../ports/clock.ts';
import { isLongReply, type Redis } from './connection.ts';
import { advanced, endOf, type Loss, lossAt, type Position } from './position.ts';
import { BATCH, lookAt, type Raw, readAfter } from './stream.ts';

export interface ReaderOptions {
  /** A connection of its own: while it waits for entries it takes no other command. */
  readonly redis: Redis;
  readonly stream: string;
  readonly clock: Clock;
  /** In the order of the stream. */
  readonly read: (entry: Raw) => void;
  /** Entries that should have been read are gone. */
  readonly lost: (loss: Loss) => void;
  /** The first position is taken: what is published from now on is read. */
  readonly placed: () => void;
  /** `isReading` or the connection's state is another one. */
  readonly changed: () => void;
}

/** Even where entries never stop coming it is seen so often whether some are missing. */
const CHECK_MS = 5000;
const RETRY_MS = 1000;

/** Reads the stream from its end on until it is closed, and knows of every gap. */
export class Reader {
  readonly #options: ReaderOptions;
  readonly #unwatch: () => void;
  #position: Position | undefined;
  /** What was missed before the present connection has been looked for. */
  #isCurrent = false;
  #failure: string | undefined;
  /** What comes next is too long to be read. */
  #isStuck = false;
  #checkAt = 0;
  #wake: () => void = () => {};
  #closed = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#unwatch = options.redis.onState((isUp) => {
      if (isUp) this.#wake();
      else this.#disconnected();
    });
    void this.#run();
  }

  /** Whether it hears what others publish. */
  get isReading(): boolean {
    return this.#options.redis.isUp && this.#isCurrent && this.#failure === undefined;
  }

  /** Why it does not. */
  get failure(): string {
    const { redis } = this.#options;
    return redis.isUp ? (this.#failure ?? 'not read yet') : redis.reason;
  }

  /** Nothing is read from now on. */
  close(): void {
    this.#closed = true;
    this.#unwatch();
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#step();
        this.#setFailure(undefined);
      } catch (error) {
        await this.#pause(error);
      }
    }
  }

  async #step(): Promise<void> {
    const { redis, stream, clock } = this.#options;
    if (this.#position === undefined) return this.#begin();
    const isDue = clock.elapsed() >= this.#checkAt;
    const position = isDue ? await this.#checked(this.#position) : this.#position;
    if (this.#closed) return;
    this.#position = position;
    const entries = await readAfter(redis, stream, position.id).catch((error: unknown) => {
      this.#isStuck = isLongReply(error);
      throw error;
    });
    if (entries.length === 0 || entries.length === BATCH) this.#checkAt = 0;
    await this.#deal(position, entries);
  }

  async #begin(): Promise<void> {
    const { redis, stream, placed } = this.#options;
    this.#position = endOf(await lookAt(redis, stream));
    if (this.#closed) return;
    placed();
    this.#current();
  }

  async #checked(position: Position): Promise<Position> {
    const { redis, stream, clock, lost } = this.#options;
    const state = await lookAt(redis, stream);
    const loss = this.#isStuck ? 'long' : lossAt(position, state);
    this.#isStuck = false;
    if (loss === undefined) {
      // Only at the end it is seen for certain that nothing is missing.
      this.#checkAt = state.lastId === position.id ? clock.elapsed() + CHECK_MS : 0;
    } else if (!this.#closed) {
      lost(loss);
    }
    this.#current();
    return loss === undefined ? position : endOf(state);
  }

  #current(): void {
    if (this.#isCurrent) return;
    this.#isCurrent = true;
    this.#options.changed();
  }

  #disconnected(): void {
    this.#isCurrent = false;
    this.#checkAt = 0;
    this.#options.changed();
  }

  async #deal(position: Position, entries: readonly Raw[]): Promise<void> {
    const last = entries.at(-1);
    if (last === undefined || this.#closed) return;
    this.#position = advanced(position, last.id, entries.length);
    for (const entry of entries) {
      if (!this.#closed) this.#options.read(entry);
    }
    await nextTurn();
  }

  /** Until the server is there, or for a moment where it is and something else is wrong. */
  async #pause(error: unknown): Promise<void> {
    const { redis, clock } = this.#options;
    if (this.#closed) return;
    if (redis.isUp) this.#setFailure(error instanceof Error ? error.message : 'unknown');
    let cancel: Cancel = () => {};
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      cancel = clock.after(RETRY_MS, resolve);
    });
    cancel();
  }

  #setFailure(failure: string | undefined): void {
    const before = this.#failure;
    this.#failure = failure;
    if (before !== failure) this.#options.changed();
  }
}
