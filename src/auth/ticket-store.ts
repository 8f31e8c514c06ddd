import type { Cancel, Clock } from '../ports/clock.ts';
import type { Put, Store, StoreEntry } from '../ports/store.ts';

export interface StoreBounds {
  /** Entries in all, and of one owner. */
  readonly entries: number;
  readonly perOwner: number;
  /** UTF-16 units of all values together. */
  readonly units: number;
}

interface Kept extends StoreEntry {
  /** Monotonic milliseconds. */
  readonly endsAt: number;
  readonly cancel: Cancel;
}

/** The store of a process by itself. An entry goes when it is taken or its time is over, whichever is first. */
export class MemoryStore implements Store {
  readonly #bounds: StoreBounds;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  readonly #byOwner = new Map<string, number>();
  #units = 0;

  constructor(bounds: StoreBounds, clock: Clock) {
    this.#bounds = bounds;
    this.#clock = clock;
  }

  /** Entries that have neither been taken nor expired. */
  get size(): number {
    return this.#kept.size;
  }

  async put(key: string, { value, owner, life }: StoreEntry): Promise<Put> {
    const own = this.#byOwner.get(owner) ?? 0;
    if (own >= this.#bounds.perOwner) return 'owner_full';
    if (this.#kept.size >= this.#bounds.entries || this.#units + value.length > this.#bounds.units) return 'full';
    this.#byOwner.set(owner, own + 1);
    this.#units += value.length;
    const cancel = this.#clock.after(life, () => this.#remove(key));
    this.#kept.set(key, { value, owner, life, endsAt: this.#clock.elapsed() + life, cancel });
    return 'kept';
  }

  async take(key: string): Promise<string | undefined> {
    const kept = this.#remove(key);
    // The timer may be late where the event loop is.
    return kept !== undefined && this.#clock.elapsed() < kept.endsAt ? kept.value : undefined;
  }

  async close(): Promise<void> {
    for (const key of [...this.#kept.keys()]) this.#remove(key);
  }

  #remove(key: string): Kept | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    kept.cancel();
    this.#units -= kept.value.length;
    const others = (this.#byOwner.get(kept.owner) ?? 1) - 1;
    if (others === 0) this.#byOwner.delete(kept.owner);
    else this.#byOwner.set(kept.owner, others);
    return kept;
  }
}
