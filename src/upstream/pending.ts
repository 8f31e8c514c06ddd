import type { Cancel, Clock } from '../ports/clock.ts';
import type { Notification, Response } from '../protocol/envelope.ts';
import type { Fault } from '../protocol/errors.ts';
import { type DeadlineLimits, dueAt } from './deadline.ts';

/** One request under way on a link. Exactly one of `answered` and `failed` is called, and the entry is gone by then. */
export interface Pending {
  answered(response: Response, receivedAt: number): void;
  failed(fault: Fault, again: boolean): void;
  progress(notification: Notification): void;
}

interface Slot {
  readonly id: number;
  readonly pending: Pending;
  readonly limits: DeadlineLimits;
  readonly startedAt: number;
  touchedAt: number;
}

const FIRST_CAPACITY = 64;

/**
 * The requests under way on one link, by the link's own id: an integer from one counter, never reused, and their
 * deadlines on one timer. Slots rather than a Map: a Map that entries pass through is rehashed again and again, and each
 * old table, once it has outlived the young generation, keeps alive all that passes through its successors.
 */
export class PendingTable {
  private readonly clock: Clock;
  private readonly expired: (id: number) => void;
  private slots: (Slot | undefined)[] = new Array<Slot | undefined>(FIRST_CAPACITY).fill(undefined);
  private count = 0;
  private last = 0;
  private armedFor = Number.POSITIVE_INFINITY;
  private held = 0;
  private disarm: Cancel = () => {};

  /** `expired` is told of an id whose deadline has passed, still in the table. */
  constructor(clock: Clock, expired: (id: number) => void) {
    this.clock = clock;
    this.expired = expired;
  }

  get size(): number {
    return this.count;
  }

  /** Returns the id under which the request is to be sent. */
  add(pending: Pending, limits: DeadlineLimits): number {
    if (this.count * 2 >= this.slots.length) this.grow();
    do this.last += 1;
    while (this.slots[this.last % this.slots.length] !== undefined);
    const now = this.clock.elapsed();
    const slot = { id: this.last, pending, limits, startedAt: now, touchedAt: now };
    this.slots[this.last % this.slots.length] = slot;
    this.count += 1;
    this.arm(dueAt(limits, now, now));
    return slot.id;
  }

  /** Counts as progress; undefined when nobody waits for `id`. */
  touch(id: unknown): Pending | undefined {
    const slot = this.find(id);
    if (slot !== undefined) slot.touchedAt = this.clock.elapsed();
    return slot?.pending;
  }

  /** The upstream waits for somebody else: until the returned function is called, only hard limits end a request. */
  hold(): () => void {
    let holds = true;
    this.held += 1;
    return () => {
      if (holds) this.release();
      holds = false;
    };
  }

  /** Takes the entry out; undefined when nobody waits for `id`. */
  take(id: unknown): Pending | undefined {
    const slot = this.find(id);
    if (slot === undefined) return undefined;
    this.slots[slot.id % this.slots.length] = undefined;
    this.count -= 1;
    return slot.pending;
  }

  /** True for an id that was given out once: an answer to it now is late, not made up. */
  wasGiven(id: unknown): boolean {
    return typeof id === 'number' && id >= 1 && id <= this.last;
  }

  failAll(fault: Fault): void {
    for (const slot of [...this.slots]) if (slot !== undefined) this.take(slot.id)?.failed(fault, false);
    this.disarm();
    this.armedFor = Number.POSITIVE_INFINITY;
  }

  private release(): void {
    this.held -= 1;
    const now = this.clock.elapsed();
    for (const slot of this.slots) if (slot !== undefined) slot.touchedAt = now;
  }

  private find(id: unknown): Slot | undefined {
    if (typeof id !== 'number') return undefined;
    const slot = this.slots[id % this.slots.length];
    return slot?.id === id ? slot : undefined;
  }

  private grow(): void {
    const live = this.slots.filter((slot) => slot !== undefined);
    this.slots = new Array<Slot | undefined>(this.slots.length * 2).fill(undefined);
    for (const slot of live) this.slots[slot.id % this.slots.length] = slot;
  }

  private arm(due: number): void {
    if (due >= this.armedFor) return;
    this.disarm();
    this.armedFor = due;
    this.disarm = this.clock.after(Math.max(0, due - this.clock.elapsed()), () => this.sweep());
  }

  /** Entries that were answered or touched leave the timer as it is: it then finds nothing due and is set for what is. */
  private sweep(): void {
    this.armedFor = Number.POSITIVE_INFINITY;
    const now = this.clock.elapsed();
    for (const slot of [...this.slots]) {
      if (slot === undefined) continue;
      const due = dueAt(slot.limits, slot.startedAt, this.held > 0 ? now : slot.touchedAt);
      if (due <= now) this.expired(slot.id);
      else this.arm(due);
    }
  }
}
