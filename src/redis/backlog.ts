import type { Change } from '../ports/bus.ts';
import type { Hint } from './entry.ts';

export interface BacklogOptions {
  /** Milliseconds within which clients of any replica are told of an update once. */
  readonly coalesceMs: number;
  readonly elapsed: () => number;
}

/** Updates that may wait; of more than these the others are told that everything may have changed. */
export const MAX_WAITING = 1000;
/** That is said at most so often, for it makes every replica list everything. */
const EVERYTHING_MS = 1000;

/**
 * What is to be told to other replicas, each change once. A list always has a place, for there are no more of them than
 * three for each upstream, and goes before all updates; these go in rounds, each of what there was at its beginning. A
 * round takes half of `coalesceMs`: were it longer, the second word of one update could come when others have told it.
 */
export class Backlog {
  readonly #options: BacklogOptions;
  readonly #lists = new Map<string, Change>();
  readonly #updates = new Map<string, Change>();
  /** So many of the first updates are of the round under way. */
  #inRound = 0;
  #nextRound = Number.NEGATIVE_INFINITY;
  #everything = false;
  #nextEverything = Number.NEGATIVE_INFINITY;

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return !this.#everything && this.#lists.size === 0 && this.#updates.size === 0;
  }

  /** Whether there was a place for it, or it waits already. */
  keep(change: Change): boolean {
    if (change.kind !== 'updated') {
      this.#lists.set(JSON.stringify([change.kind, change.upstream]), change);
      return true;
    }
    const key = JSON.stringify([change.upstream, change.uri]);
    if (this.#updates.has(key)) return true;
    if (this.#updates.size < MAX_WAITING) this.#updates.set(key, change);
    else this.#everything = true;
    return this.#updates.has(key);
  }

  /** What is due, `most` at most. `isLast`: all of it is. */
  take(most: number, isLast: boolean): readonly Hint[] {
    const now = this.#options.elapsed();
    const everything = this.#takeEverything(now, isLast);
    const lists = shift(this.#lists, most - everything.length);
    this.#beginRound(now, isLast);
    const updates = shift(this.#updates, Math.min(this.#inRound, most - everything.length - lists.length));
    this.#inRound -= updates.length;
    return [...everything, ...lists, ...updates];
  }

  #takeEverything(now: number, isLast: boolean): readonly Hint[] {
    if (!this.#everything || !(isLast || now >= this.#nextEverything)) return [];
    this.#everything = false;
    this.#nextEverything = now + EVERYTHING_MS;
    return [{ kind: 'everything' }];
  }

  #beginRound(now: number, isLast: boolean): void {
    if (isLast) this.#inRound = this.#updates.size;
    if (this.#inRound > 0 || now < this.#nextRound || this.#updates.size === 0) return;
    this.#inRound = this.#updates.size;
    this.#nextRound = now + this.#options.coalesceMs / 2;
  }
}

/** Takes the first out, `most` at most. */
function shift(changes: Map<string, Change>, most: number): readonly Change[] {
  const taken = [...changes].slice(0, most);
  for (const [key] of taken) changes.delete(key);
  return taken.map(([, change]) => change);
}
