import { randomBytes } from 'node:crypto';
import type { Bus, Change, ChangeListener, LocalBus, Reach } from '../ports/bus.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Mac } from '../ports/mac.ts';
import type { Meter } from '../ports/meter.ts';
import { BusState } from './bus-state.ts';
import type { Redis } from './connection.ts';
import { Entries } from './entry.ts';
import { Inbox } from './inbox.ts';
import { Publisher } from './publisher.ts';
import { Reader } from './reader.ts';

export interface RedisBusOptions {
  /** Brings changes to the listeners of this replica. The bus closes it. */
  readonly local: LocalBus;
  /** For commands; whoever opened it closes it, after the bus. */
  readonly commands: Redis;
  /** For reading alone. The bus closes it. */
  readonly reading: Redis;
  readonly keys: (rest: string) => string;
  readonly mac: Mac;
  /** Milliseconds within which clients are told of an update once. */
  readonly coalesceMs: number;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
}

/** The key of the stream all replicas write to and read, by its last part. */
export const STREAM = 'changes';
/** Milliseconds a start waits for the server, and a close for what is still to be written. */
const OPENING_MS = 2000;
const CLOSING_MS = 1000;

/** Joins the buses of replicas through one stream. While the server is away each goes on alone, and then catches up. */
export class RedisBus implements Bus {
  /** What is published from now on is heard, or the server is away. Never rejects. What is listed afterwards is not older than what is heard. */
  readonly opened: Promise<void>;
  readonly #options: RedisBusOptions;
  readonly #publisher: Publisher;
  readonly #reader: Reader;
  readonly #state: BusState;
  readonly #unwatch: () => void;
  #open: () => void = () => {};
  #isLate = false;
  #cancelOpening: Cancel;
  #closing: Promise<void> | undefined;

  constructor(options: RedisBusOptions) {
    this.#options = options;
    const stream = options.keys(STREAM);
    const entries = new Entries(stream, options.mac);
    const identity = randomBytes(16).toString('base64url');
    const inbox = new Inbox({ ...options, entries, identity });
    const changed = () => this.#changed();
    this.#state = new BusState(options.meter, options.log);
    this.opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.#cancelOpening = options.clock.after(OPENING_MS, () => this.#late());
    this.#publisher = new Publisher({ ...options, redis: options.commands, stream, entries, identity, changed });
    this.#reader = new Reader({
      redis: options.reading,
      stream,
      clock: options.clock,
      read: (entry) => inbox.read(entry),
      lost: (loss) => inbox.lost(loss),
      placed: () => this.#placed(),
      changed,
    });
    this.#unwatch = options.commands.onState(changed);
  }

  get isUp(): boolean {
    return this.#state.isUp;
  }

  publish(change: Change, reach: Reach = 'everywhere'): void {
    if (reach !== 'elsewhere') this.#options.local.publish(change, 'here');
    if (reach !== 'here') this.#publisher.publish(change);
  }

  subscribe(listener: ChangeListener): () => void {
    return this.#options.local.subscribe(listener);
  }

  onMissed(listener: () => void): () => void {
    return this.#options.local.onMissed(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { local, reading, clock } = this.#options;
    this.#cancelOpening();
    this.#unwatch();
    this.#open();
    this.#reader.close();
    await Promise.all([local.close(), reading.close()]);
    let cancel: Cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = clock.after(CLOSING_MS, resolve);
    });
    await Promise.race([this.#publisher.close(), late]);
    cancel();
  }

  /** What was listed before this, while nothing could be heard, may be old. */
  #placed(): void {
    this.#cancelOpening();
    if (this.#isLate) this.#options.local.missed();
    this.#open();
  }

  #late(): void {
    this.#isLate = true;
    this.#state.tell(() => this.#reason());
    this.#open();
  }

  #changed(): void {
    const isUp = this.#options.commands.isUp && this.#reader.isReading && this.#publisher.refusal === undefined;
    this.#state.set(isUp, () => this.#reason());
  }

  #reason(): string {
    const { commands } = this.#options;
    if (!commands.isUp) return commands.reason;
    return this.#reader.isReading ? (this.#publisher.refusal ?? '') : this.#reader.failure;
  }
}
