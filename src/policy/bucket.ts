export interface Rate {
  /** Units a second. */
  readonly rate: number;
  /** Units at once. */
  readonly burst: number;
}

/** Less than this is no wait, in milliseconds: sums of fractions are not exact. */
const ROUNDING = 1e-3;

/**
 * A token bucket, kept as the one moment at which it is full again (the generic cell rate algorithm of ITU-T I.371): no
 * timer, and one comparison a message. Times are monotonic milliseconds.
 */
export class Bucket {
  private readonly unit: number;
  private readonly depth: number;
  private fullAt = Number.NEGATIVE_INFINITY;

  constructor({ rate, burst }: Rate) {
    this.unit = 1000 / rate;
    this.depth = burst * this.unit;
  }

  /** Takes `cost` units if they are there: 0. Else takes none and says how long, in milliseconds, until they are. */
  take(cost: number, now: number): number {
    const wait = this.wait(cost, now);
    if (wait === 0) this.fullAt = this.after(cost, now);
    return wait;
  }

  /** The same without taking them. */
  wait(cost: number, now: number): number {
    const wait = this.after(cost, now) - now - this.depth;
    return wait > ROUNDING ? wait : 0;
  }

  /** Takes `cost` units, there or not; false if they were not. What is owed is at most what the bucket holds. */
  charge(cost: number, now: number): boolean {
    const fullAt = this.after(cost, now);
    this.fullAt = Math.min(fullAt, now + 2 * this.depth);
    return fullAt - now <= this.depth + ROUNDING;
  }

  /** Milliseconds until it is full again; 0 if it is. */
  fullIn(now: number): number {
    return Math.max(0, this.fullAt - now);
  }

  /** What costs more than the bucket holds costs all of it. */
  private after(cost: number, now: number): number {
    return Math.max(this.fullAt, now) + Math.min(cost * this.unit, this.depth);
  }
}
