import { type Principal, principalKey } from '../auth/principal.ts';
import { Bucket, type Rate } from '../policy/bucket.ts';
import type { Cancel, Clock } from '../ports/clock.ts';

/** The bucket of one principal, in the hands of one session. */
export interface Held {
  /** Undefined where there is no limit. */
  readonly bucket: Bucket | undefined;
  /** Once. */
  release(): void;
}

interface Entry {
  readonly bucket: Bucket;
  holders: number;
  /** Where nobody holds it: withdraws its end. */
  stop: Cancel | undefined;
}

/** Buckets that are kept for principals without a session, until they are full again. */
const MAX_RESTING = 65_536;
const UNLIMITED: Held = { bucket: undefined, release: () => {} };

/**
 * One bucket a principal, however many sockets it has. It outlives the last of them until it is full, so that a new socket
 * is no new bucket.
 */
export class Rates {
  private readonly rate: Rate | null;
  private readonly clock: Clock;
  private readonly entries = new Map<string, Entry>();
  private resting = 0;

  constructor(rate: Rate | null, clock: Clock) {
    this.rate = rate;
    this.clock = clock;
  }

  /** How many buckets there are. */
  get size(): number {
    return this.entries.size;
  }

  hold(principal: Principal): Held {
    if (this.rate === null) return UNLIMITED;
    const key = principalKey(principal);
    const entry = this.entries.get(key) ?? { bucket: new Bucket(this.rate), holders: 0, stop: undefined };
    this.entries.set(key, entry);
    entry.holders += 1;
    this.wake(entry);
    return { bucket: entry.bucket, release: () => this.released(key, entry) };
  }

  close(): void {
    for (const entry of this.entries.values()) this.wake(entry);
    this.entries.clear();
  }

  private released(key: string, entry: Entry): void {
    entry.holders -= 1;
    if (entry.holders > 0) return;
    const left = entry.bucket.fullIn(this.clock.elapsed());
    if (left === 0 || this.resting >= MAX_RESTING) this.entries.delete(key);
    else this.rest(key, entry, left);
  }

  private rest(key: string, entry: Entry, left: number): void {
    this.resting += 1;
    entry.stop = this.clock.after(left, () => {
      this.wake(entry);
      this.entries.delete(key);
    });
  }

  private wake(entry: Entry): void {
    if (entry.stop === undefined) return;
    entry.stop();
    entry.stop = undefined;
    this.resting -= 1;
  }
}
