import type { Clock } from '../ports/clock.ts';
import { Spent } from './spent.ts';

export interface SpentBounds {
  /** Nonces remembered of one principal. */
  readonly each: number;
  /** And of all together. */
  readonly all: number;
}

/** Of one: 100 requests a second for the ten minutes that state is valid. Of all: eight who do that. */
const BOUNDS: SpentBounds = { each: 65_536, all: 524_288 };
/** Memories looked at for each text that is spent: more than can come by it. */
const LOOKED_AT = 2;

/**
 * What each principal has spent, in a memory of its own: whoever spends much has unused texts of its own refused, and
 * nobody else's. When there is too much of all, whoever has most forgets first.
 */
export class SpentByPrincipal {
  readonly #clock: Clock;
  readonly #bounds: SpentBounds;
  /** By principal; the one looked at longest ago first. */
  readonly #memories = new Map<string, Spent>();
  #size = 0;
  /** Of those let go: a new one begins with it, so that nothing comes to life again where the wall clock is set back. */
  #floor = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, bounds = BOUNDS) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** How many nonces are remembered. */
  get size(): number {
    return this.#size;
  }

  /** How many principals have a memory. */
  get principals(): number {
    return this.#memories.size;
  }

  /** As `Spent.spend`. */
  spend(principal: string, nonce: string, expiresAt: number): boolean {
    this.#lookAround();
    const memory = this.#memoryOf(principal);
    const isTaken = this.#counted(memory, () => memory.spend(nonce, expiresAt));
    if (this.#size > this.#bounds.all) this.#forgetOne();
    return isTaken;
  }

  /** As `Spent.forgive`. */
  forgive(principal: string, nonce: string, expiresAt: number): void {
    const memory = this.#memories.get(principal);
    if (memory !== undefined) this.#counted(memory, () => memory.forgive(nonce, expiresAt));
  }

  #memoryOf(principal: string): Spent {
    const memory = this.#memories.get(principal) ?? new Spent(this.#clock, this.#bounds.each, this.#floor);
    this.#memories.set(principal, memory);
    return memory;
  }

  /** Lets go of memories in which everything has expired, a few at a time. */
  #lookAround(): void {
    for (const [principal, memory] of [...take(this.#memories, LOOKED_AT)]) {
      this.#counted(memory, () => memory.forget());
      this.#memories.delete(principal);
      if (memory.isOver) this.#floor = Math.max(this.#floor, memory.floor);
      else this.#memories.set(principal, memory);
    }
  }

  #forgetOne(): void {
    let heaviest: Spent | undefined;
    for (const memory of this.#memories.values()) if (memory.size > (heaviest?.size ?? 0)) heaviest = memory;
    const most = heaviest;
    if (most !== undefined) this.#counted(most, () => most.dropFirst());
  }

  #counted<Outcome>(memory: Spent, work: () => Outcome): Outcome {
    const before = memory.size;
    const outcome = work();
    this.#size += memory.size - before;
    return outcome;
  }
}

function* take<Item>(items: Iterable<Item>, count: number): Iterable<Item> {
  let left = count;
  for (const item of items) {
    if (left === 0) return;
    left -= 1;
    yield item;
  }
}
