import type { Clock } from '../ports/clock.ts';
import { type Place, Places } from './places.ts';
import { idlest, type Spare } from './spares.ts';
import { Starts } from './starts.ts';

export interface ChildLimits {
  readonly children: number;
  readonly childrenPerPrincipal: number;
  readonly childStartsPerSecond: number;
}

/** Caps on the processes that run for sessions, of all upstreams together. Those of catalogue links and shared ones are not counted. */
export class Children {
  private readonly limits: ChildLimits;
  private readonly clock: Clock;
  private readonly sources: (() => Iterable<Spare>)[] = [];
  private readonly all: Places;
  private readonly principals = new Map<string, Places>();
  private readonly starts: Starts;

  constructor(limits: ChildLimits, clock: Clock, taken: (count: number) => void = () => {}) {
    this.limits = limits;
    this.clock = clock;
    this.all = new Places({
      limit: limits.children,
      clock,
      taken,
      spare: (need) => idlest(this.spares(), need),
    });
    this.starts = new Starts(limits.childStartsPerSecond, clock);
  }

  /** Where links stand that can make room. */
  source(spares: () => Iterable<Spare>): void {
    this.sources.push(spares);
  }

  /** A place among those of this principal. Undefined when none can be had in time, or the signal aborts first. */
  takeOwn(principal: string, signal: AbortSignal): Promise<Place | undefined> {
    const own = this.principals.get(principal) ?? this.placesOf(principal);
    this.principals.set(principal, own);
    return own.take(principal, signal);
  }

  /** A place among all. */
  take(principal: string, signal: AbortSignal): Promise<Place | undefined> {
    return this.all.take(principal, signal);
  }

  /** Asked before each process. False when it is not its turn in time. */
  turn(principal: string, signal: AbortSignal): Promise<boolean> {
    return this.starts.turn(principal, signal);
  }

  private placesOf(principal: string): Places {
    const ofPrincipal = (spare: Spare) => spare.principal === principal;
    return new Places({
      limit: this.limits.childrenPerPrincipal,
      clock: this.clock,
      taken: (count) => count === 0 && this.principals.delete(principal),
      spare: (need) => idlest(this.spares().filter(ofPrincipal), need),
    });
  }

  private spares(): Spare[] {
    return this.sources.flatMap((source) => [...source()]);
  }
}
