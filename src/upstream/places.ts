import type { Clock } from '../ports/clock.ts';
import type { Gauge } from '../ports/meter.ts';

export interface PlacesDeps {
  /** Places there are. */
  readonly maxLinks: number;
  readonly clock: Clock;
  /** Shows how many are taken. */
  readonly links: Gauge;
}

/** Closes the link that was idle for longest, whose place then `leaves`; false where every link is in use. */
export type Spare = () => boolean;

interface Waiter {
  /** A place on its way out is meant for it. */
  sure: boolean;
  readonly leave: (gotPlace: boolean) => void;
}

/** Milliseconds one waits for a place to become free: more than a link's close takes. */
const PATIENCE_MS = 3000;

/**
 * The places for links of sessions' own to one upstream. A place is taken from before the link is opened until its close
 * has ended, so that processes on their way out count. Where none is free, an idle link makes room.
 */
export class Places {
  private readonly deps: PlacesDeps;
  private readonly spares = new Map<'leased' | 'own', Spare>();
  private readonly waiting = new Set<Waiter>();
  private taken = 0;
  private leaving = 0;

  constructor(deps: PlacesDeps) {
    this.deps = deps;
  }

  /** Who is asked for room: first for a link that serves single calls, then for one that is a session's own. */
  spare(kind: 'leased' | 'own', spare: Spare): void {
    this.spares.set(kind, spare);
  }

  /** Whether a place was taken, for which `free` or `leaves` must be called. False when none can be had in time, or the signal aborts first. */
  take(signal: AbortSignal): Promise<boolean> {
    if (this.taken < this.deps.maxLinks) {
      this.count(1);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const leave = (gotPlace: boolean) => {
        this.waiting.delete(waiter);
        stopTimer();
        signal.removeEventListener('abort', unwanted);
        resolve(gotPlace);
      };
      const unwanted = () => leave(false);
      const waiter: Waiter = { sure: false, leave };
      const stopTimer = this.deps.clock.after(PATIENCE_MS, unwanted);
      signal.addEventListener('abort', unwanted, { once: true });
      this.waiting.add(waiter);
      // Not in this turn: whoever has just been given a link has put its call on it by then.
      setImmediate(() => this.makeRoom(waiter));
    });
  }

  /** The link is gone, or never was. The one who has waited for longest has its place. */
  free(): void {
    const [first] = this.waiting;
    if (first === undefined) this.count(-1);
    else first.leave(true);
  }

  /** The link is on its way out: its place is free when `closed` has settled. */
  leaves(closed: Promise<void>): void {
    this.leaving += 1;
    const gone = () => {
      this.leaving -= 1;
      this.free();
    };
    closed.then(gone, gone);
  }

  private makeRoom(waiter: Waiter): void {
    if (!this.waiting.has(waiter)) return;
    const promised = [...this.waiting].filter(({ sure }) => sure).length;
    if (this.leaving > promised || this.spareOne()) waiter.sure = true;
    else waiter.leave(false);
  }

  private spareOne(): boolean {
    return this.spares.get('leased')?.() === true || this.spares.get('own')?.() === true;
  }

  private count(change: 1 | -1): void {
    this.taken += change;
    this.deps.links.add(change);
  }
}
