import type { Clock } from '../ports/clock.ts';
import type { Need, Spare } from './spares.ts';

export interface PlacesDeps {
  /** Places there are. */
  readonly limit: number;
  readonly clock: Clock;
  /** Told how many are taken, whenever that changes. */
  readonly taken: (count: number) => void;
  /** Whose link makes room; none where every link is in use. */
  readonly spare: (need: Need) => Spare | undefined;
}

/** A place taken. Exactly one of the two ends it. */
export interface Place {
  /** The link is gone, or never was. */
  free(): void;
  /** The link is on its way out: the place is free when `closed` has settled. */
  leaves(closed: Promise<void>): void;
}

interface Waiter {
  readonly principal: string;
  /** A place on its way out is meant for it. */
  sure: boolean;
  readonly leave: (gotPlace: boolean) => void;
}

/** Milliseconds one waits for a place to become free: more than a link's close takes. */
export const PATIENCE_MS = 3000;

/**
 * Places for links of sessions' own. A place is taken from before the link is opened until its close has ended, so that
 * processes on their way out count. Where none is free, a link that can be spared makes room.
 */
export class Places {
  private readonly deps: PlacesDeps;
  private readonly waiting = new Set<Waiter>();
  /** What each principal holds or was promised, less what it is leaving. */
  private readonly shares = new Map<string, number>();
  private taken = 0;
  private leaving = 0;

  constructor(deps: PlacesDeps) {
    this.deps = deps;
  }

  /** Undefined when none can be had in time, or the signal aborts first. */
  take(principal: string, signal: AbortSignal): Promise<Place | undefined> {
    if (this.taken < this.deps.limit) {
      this.count(1);
      this.share(principal, 1);
      return Promise.resolve(this.placeOf(principal));
    }
    return new Promise((resolve) => {
      const leave = (gotPlace: boolean) => {
        this.waiting.delete(waiter);
        stopTimer();
        signal.removeEventListener('abort', unwanted);
        if (gotPlace !== waiter.sure) this.share(principal, gotPlace ? 1 : -1);
        resolve(gotPlace ? this.placeOf(principal) : undefined);
      };
      const unwanted = () => leave(false);
      const waiter: Waiter = { principal, sure: false, leave };
      const stopTimer = this.deps.clock.after(PATIENCE_MS, unwanted);
      signal.addEventListener('abort', unwanted, { once: true });
      this.waiting.add(waiter);
      // Not in this turn: whoever has just been given a link has put its call on it by then.
      setImmediate(() => this.makeRoom(waiter));
    });
  }

  private placeOf(principal: string): Place {
    return {
      free: () => {
        this.share(principal, -1);
        this.free();
      },
      leaves: (closed) => {
        this.share(principal, -1);
        this.leaving += 1;
        const gone = () => {
          this.leaving -= 1;
          this.free();
        };
        closed.then(gone, gone);
      },
    };
  }

  /** The one who has waited for longest has the place. */
  private free(): void {
    const [first] = this.waiting;
    if (first === undefined) this.count(-1);
    else first.leave(true);
  }

  private makeRoom(waiter: Waiter): void {
    if (!this.waiting.has(waiter)) return;
    const promised = [...this.waiting].filter(({ sure }) => sure).length;
    if (this.leaving <= promised && !this.spareOne(waiter.principal)) return waiter.leave(false);
    waiter.sure = true;
    this.share(waiter.principal, 1);
  }

  private spareOne(principal: string): boolean {
    const held = (of: string) => this.shares.get(of) ?? 0;
    const spare = this.deps.spare({ principal, now: this.deps.clock.elapsed(), held });
    spare?.end();
    return spare !== undefined;
  }

  private share(principal: string, change: 1 | -1): void {
    const held = (this.shares.get(principal) ?? 0) + change;
    if (held === 0) this.shares.delete(principal);
    else this.shares.set(principal, held);
  }

  private count(change: 1 | -1): void {
    this.taken += change;
    this.deps.taken(this.taken);
  }
}
