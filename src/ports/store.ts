/**
 * Keeps small texts until they expire, each to be had back once. Keys are the caller's to make unique: none is put
 * twice. `put` and `take` reject where the store cannot be reached, and then say nothing of what it holds.
 */
export interface Store {
  /** Keeps the entry, where the store's bounds allow one more. */
  put(key: string, entry: StoreEntry): Promise<Put>;
  /** Gives the value to exactly one of all who ask for it; undefined for all others, once it has expired, and for what was never put. */
  take(key: string): Promise<string | undefined>;
  /** Forgets what is its own. Idempotent. */
  close(): Promise<void>;
}

export interface StoreEntry {
  readonly value: string;
  /** Whose bound it counts against. */
  readonly owner: string;
  /** Milliseconds. */
  readonly life: number;
}

/** `owner_full`: the owner has as many entries as one may have; `full`: all owners together do. Nothing was kept then. */
export type Put = 'kept' | 'owner_full' | 'full';
