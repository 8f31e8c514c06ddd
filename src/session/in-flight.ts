import type { Id, Notification } from '../protocol/envelope.ts';
import type { WireError } from '../protocol/errors.ts';
import type { Turn } from './turn.ts';

/** One request of the client that has no answer yet. */
export interface Unanswered {
  /** Null when this request must not be cancelled (`initialize`). Called after the entry was removed. */
  cancel: ((notification?: Notification) => void) | null;
}

/** A request that is an upstream's to answer, as far as it may have to be refused after all. */
export type Deniable = Pick<Turn, 'request' | 'target' | 'deny'>;

/** What a call is answered with that its principal may make no more; undefined for one that may go on. */
export type Denial = (call: Pick<Turn, 'request' | 'target'>) => WireError | undefined;

/**
 * The client's requests under way, by id; `1` and `"1"` differ. Arrays, searched from the front: the cap keeps them
 * short, and unlike a Map they are not rebuilt as calls pass through.
 */
export class InFlight {
  private readonly ids: Id[] = [];
  private readonly entries: Unanswered[] = [];
  private readonly turns: (Deniable | undefined)[] = [];
  private readonly cap: number;

  constructor(cap: number) {
    this.cap = cap;
  }

  get size(): number {
    return this.ids.length;
  }

  /** With `others` that are under way elsewhere. */
  isFull(others: number): boolean {
    return this.ids.length + others >= this.cap;
  }

  has(id: Id): boolean {
    return this.ids.includes(id);
  }

  add(id: Id, entry: Unanswered, turn?: Deniable): void {
    this.ids.push(id);
    this.entries.push(entry);
    this.turns.push(turn);
  }

  /** True if it was under way: exactly one caller gets to answer. */
  take(id: Id): boolean {
    return this.remove(this.ids.indexOf(id));
  }

  /** The client's cancellation. Unknown, finished and uncancellable ids are ignored (MCP 2025-11-25, Cancellation). */
  cancel(id: Id, notification: Notification): boolean {
    const at = this.ids.indexOf(id);
    const entry = this.entries[at];
    if (entry === undefined || entry.cancel === null) return false;
    this.remove(at);
    entry.cancel(notification);
    return true;
  }

  /** Cancels what can be cancelled; `told` hears the id of each request first, while its socket is still open. */
  cancelAll(told: (id: Id) => void = () => {}): void {
    for (const id of this.ids.splice(0)) told(id);
    this.turns.length = 0;
    for (const entry of this.entries.splice(0)) entry.cancel?.();
  }

  /** Ends the calls that have a denial with it, and at their owners. */
  revoke(denial: Denial): void {
    const calls = this.turns.map((turn, at) => ({ turn, entry: this.entries[at] }));
    for (const { turn, entry } of calls) {
      const error = turn === undefined ? undefined : denial(turn);
      if (error === undefined) continue;
      turn?.deny(error);
      entry?.cancel?.();
    }
  }

  /** The upstreams that have one of them. */
  upstreams(): string[] {
    return this.turns.flatMap((turn) => (turn === undefined ? [] : [turn.target.upstream]));
  }

  /** The last entry takes the place of the removed one: order means nothing here. */
  private remove(at: number): boolean {
    if (at < 0) return false;
    const id = this.ids.pop();
    const entry = this.entries.pop();
    const turn = this.turns.pop();
    if (at < this.ids.length && id !== undefined && entry !== undefined) {
      this.ids[at] = id;
      this.entries[at] = entry;
      this.turns[at] = turn;
    }
    return true;
  }
}
