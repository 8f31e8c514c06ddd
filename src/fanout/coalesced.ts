import type { Cancel, Clock } from '../ports/clock.ts';

/** What waits at most: more is told sooner than at the end of its time. */
const MAX_WAITING = 10_000;

export interface Updated {
  readonly upstream: string;
  readonly uri: string;
}

/**
 * Tells of each updated resource once in so many milliseconds, at their end, however often and in whichever way it was
 * heard: what a client reads then is newer than all of it. Nothing is told after `close`.
 */
export class Coalesced {
  private readonly ms: number;
  private readonly clock: Clock;
  private readonly tell: (updated: Updated) => void;
  private waiting = new Map<string, Updated>();
  private cancel: Cancel | undefined;
  private closed = false;

  constructor(ms: number, clock: Clock, tell: (updated: Updated) => void) {
    this.ms = ms;
    this.clock = clock;
    this.tell = tell;
  }

  add(updated: Updated): void {
    if (this.closed) return;
    this.waiting.set(JSON.stringify([updated.upstream, updated.uri]), updated);
    if (this.ms === 0 || this.waiting.size >= MAX_WAITING) this.flush();
    else this.cancel ??= this.clock.after(this.ms, () => this.flush());
  }

  close(): void {
    this.closed = true;
    this.cancel?.();
    this.waiting.clear();
  }

  private flush(): void {
    this.cancel?.();
    this.cancel = undefined;
    const all = this.waiting;
    this.waiting = new Map();
    for (const each of all.values()) {
      if (!this.closed) this.tell(each);
    }
  }
}
