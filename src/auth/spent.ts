import type { Clock } from '../ports/clock.ts';

interface Entry {
  readonly nonce: string;
  readonly expiresAt: number;
}

/**
 * What makes a sealed text good for one use. It remembers the nonces that were spent until they expire. When it is full it
 * drops the one that expires first, and from then on refuses whatever expires no later: unused texts may be refused, none is
 * ever spent twice.
 */
export class Spent {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #nonces = new Set<string>();
  /** The same, those that expire first in front. */
  readonly #order: Entry[] = [];
  /** The newest expiry that is no longer remembered: also where the wall clock is set back, nothing comes to life again. */
  #floor: number;

  /** `floor`: whatever expires no later is refused. */
  constructor(clock: Clock, capacity: number, floor = Number.NEGATIVE_INFINITY) {
    this.#clock = clock;
    this.#capacity = capacity;
    this.#floor = floor;
  }

  get floor(): number {
    return this.#floor;
  }

  /** Whether one that begins anew refuses no less, where it begins with the same floor. */
  get isOver(): boolean {
    return this.size === 0 && this.#floor <= this.#clock.now();
  }

  /** How many are remembered. */
  get size(): number {
    return this.#nonces.size;
  }

  /** True once for a nonce; false when it was spent before, has expired, or may have been spent. `expiresAt` as sealed, epoch milliseconds. */
  spend(nonce: string, expiresAt: number): boolean {
    this.forget();
    const usable = expiresAt > Math.max(this.#floor, this.#clock.now());
    if (!usable || this.#nonces.has(nonce)) return false;
    this.#nonces.add(nonce);
    this.#order.splice(this.#after(expiresAt), 0, { nonce, expiresAt });
    if (this.#nonces.size > this.#capacity) this.dropFirst();
    return true;
  }

  /** Forgets the one that expires first: from now on whatever expires no later is refused. */
  dropFirst(): void {
    this.#drop(1);
  }

  /** What was spent served nothing: it may be spent once more. */
  forgive(nonce: string, expiresAt: number): void {
    if (!this.#nonces.delete(nonce)) return;
    for (let at = this.#after(expiresAt) - 1; at >= 0; at -= 1) {
      if (this.#order[at]?.nonce !== nonce) continue;
      this.#order.splice(at, 1);
      return;
    }
  }

  /** Forgets what has expired. */
  forget(): void {
    const expired = this.#after(this.#clock.now());
    if (expired > 0) this.#drop(expired);
  }

  /** Drops those in front. */
  #drop(count: number): void {
    for (const { nonce, expiresAt } of this.#order.splice(0, count)) {
      this.#nonces.delete(nonce);
      this.#floor = expiresAt;
    }
  }

  /** The place behind everything that expires at `time` or before. */
  #after(time: number): number {
    let low = 0;
    for (let high = this.#order.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#order[middle]?.expiresAt ?? Number.POSITIVE_INFINITY) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
