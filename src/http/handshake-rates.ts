import { addressKey } from '../policy/address.ts';
import { Bucket, type Rate } from '../policy/bucket.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Refused } from './refusals.ts';

export interface HandshakeLimits {
  readonly perSecond: number;
  readonly perAddress: Rate | null;
}

/** Milliseconds between two looks at which addresses have been still for long enough to be forgotten. */
const SWEEP_MS = 10_000;

/**
 * How fast connections may begin, in all and by one address, over every listener. What is kept of addresses is bounded
 * by the rate in all: one that is over it is not looked at further.
 */
export class HandshakeRates {
  readonly #clock: Clock;
  readonly #all: Bucket;
  readonly #perAddress: Rate | null;
  readonly #addresses = new Map<string, Bucket>();
  #stopSweep: Cancel = () => {};

  constructor({ perSecond, perAddress }: HandshakeLimits, clock: Clock) {
    this.#clock = clock;
    this.#all = new Bucket({ rate: perSecond, burst: perSecond });
    this.#perAddress = perAddress;
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#addresses.size;
  }

  /** Counts one that begins. One refused for its address does not count in all: nobody uses up what is everybody's. */
  begins(address: string): Refused | undefined {
    const now = this.#clock.elapsed();
    const over = this.#all.wait(1, now);
    if (over > 0) return { refused: 'handshakes', retryAfterMs: over };
    const refused = this.beginsBehind(address);
    if (refused === undefined) this.#all.take(1, now);
    return refused;
  }

  /** The same for one whose connection counts in all already. An empty address is nobody's. */
  beginsBehind(address: string): Refused | undefined {
    if (this.#perAddress === null || address === '') return undefined;
    const over = this.#bucketOf(addressKey(address), this.#perAddress).take(1, this.#clock.elapsed());
    return over === 0 ? undefined : { refused: 'handshakes_per_address', retryAfterMs: over };
  }

  /** Forgets everybody. */
  close(): void {
    this.#stopSweep();
    this.#addresses.clear();
  }

  #bucketOf(key: string, rate: Rate): Bucket {
    const known = this.#addresses.get(key);
    if (known !== undefined) return known;
    if (this.#addresses.size === 0) this.#sweepLater();
    const bucket = new Bucket(rate);
    this.#addresses.set(key, bucket);
    return bucket;
  }

  #sweepLater(): void {
    this.#stopSweep = this.#clock.after(SWEEP_MS, () => this.#sweep());
  }

  /** A bucket that is full is as good as a new one. */
  #sweep(): void {
    const now = this.#clock.elapsed();
    for (const [key, bucket] of this.#addresses) if (bucket.fullIn(now) === 0) this.#addresses.delete(key);
    if (this.#addresses.size > 0) this.#sweepLater();
  }
}
