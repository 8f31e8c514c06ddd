import type { Clock } from '../ports/clock.ts';
import type { Link, LinkEvents } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Gauge } from '../ports/meter.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { Fault } from '../protocol/errors.ts';
import { Breaker, type BreakerLimits } from './breaker.ts';
import type { Children } from './children.ts';
import { type Place, Places } from './places.ts';
import { type Spare, spareInShares } from './spares.ts';

export interface OpeningsDeps {
  /** Links of sessions' own at once, those being opened included. */
  readonly maxLinks: number;
  /** Caps on processes; absent where a link is none. */
  readonly children: Children | undefined;
  readonly breaker: BreakerLimits;
  /** `turn` is to be waited for before each process, and a rejection of it passed on. */
  readonly open: (wanted: Wanted, turn: () => Promise<void>) => Promise<Link>;
  readonly clock: Clock;
  readonly log: Log;
  readonly links: Gauge;
  readonly random: () => number;
}

export interface Wanted {
  readonly session: string;
  readonly principal: string;
  readonly events: LinkEvents;
  readonly capabilities: ClientCapabilities;
  /** Aborts when nobody wants the link any more. */
  readonly signal: AbortSignal;
}

type Take = (principal: string, signal: AbortSignal) => Promise<Place | undefined>;

/** Opens and closes the links of sessions' own to one upstream, within its cap, those on processes, and its breaker. */
export class Openings {
  private readonly deps: OpeningsDeps;
  private readonly breaker: Breaker;
  private readonly sources: (() => Iterable<Spare>)[] = [];
  private readonly takes: readonly Take[];
  /** What each open link holds. */
  private readonly held = new WeakMap<Link, readonly Place[]>();

  constructor(deps: OpeningsDeps) {
    const { maxLinks, clock, links, children } = deps;
    this.deps = deps;
    this.breaker = new Breaker(deps.breaker);
    const places = new Places({
      limit: maxLinks,
      clock,
      taken: (count) => links.set(count),
      spare: (need) =>
        spareInShares(
          this.sources.flatMap((source) => [...source()]),
          need,
        ),
    });
    const take: Take = (principal, signal) => places.take(principal, signal);
    // The narrowest first: a link that makes room there makes room everywhere.
    this.takes =
      children === undefined ? [take] : [(...of) => children.takeOwn(...of), take, (...of) => children.take(...of)];
  }

  /** Where links stand that can make room. */
  source(spares: () => Iterable<Spare>): void {
    this.sources.push(spares);
    this.deps.children?.source(spares);
  }

  /** Rejects with a Fault. A link it gives is to be ended by one of `close` and `forgotten`. */
  async link(wanted: Wanted): Promise<Link> {
    const { session, capabilities } = wanted;
    this.refuseWhileBroken();
    this.mustBeSayable(session, capabilities);
    const places = await this.taken(wanted);
    try {
      const link = await this.attempt(wanted);
      this.held.set(link, places);
      return link;
    } catch (cause) {
      for (const place of places) place.free();
      throw cause;
    }
  }

  /** Also of a link that has ended by itself. Resolves when nothing of it is left and its places are free. */
  close(link: Link): Promise<void> {
    const closed = link.close();
    for (const place of this.held.get(link) ?? []) place.leaves(closed);
    this.held.delete(link);
    return closed;
  }

  /** Its peer forgot it: it still has answers to wait for, and no process behind it. */
  forgotten(link: Link): void {
    for (const place of this.held.get(link) ?? []) place.free();
    this.held.delete(link);
  }

  private async taken({ principal, signal }: Wanted): Promise<Place[]> {
    const places: Place[] = [];
    for (const take of this.takes) {
      const place = await take(principal, signal);
      if (place === undefined) {
        for (const had of places) had.free();
        throw refusal(signal);
      }
      places.push(place);
    }
    return places;
  }

  private async attempt(wanted: Wanted): Promise<Link> {
    const { breaker } = this;
    const { session, signal } = wanted;
    // Anew: the place may have been waited for.
    this.refuseWhileBroken();
    breaker.started();
    let turnedAway: Fault | undefined;
    const turn = async () => {
      turnedAway = await this.turnedAway(wanted);
      if (turnedAway !== undefined) throw turnedAway;
    };
    try {
      const link = await this.deps.open(wanted, turn);
      breaker.connected();
      return link;
    } catch (cause) {
      if (!signal.aborted && turnedAway === undefined && !isOwn(cause)) throw this.failed(session, cause);
      breaker.abandoned();
      throw signal.aborted ? refusal(signal) : (turnedAway ?? this.broken(session, cause));
    }
  }

  /** Waits for the turn of one process; why it may not start, where it may not. Others may have failed meanwhile. */
  private async turnedAway({ principal, signal }: Wanted): Promise<Fault | undefined> {
    const { children, clock } = this.deps;
    if (children === undefined) return undefined;
    if (!(await children.turn(principal, signal))) return refusal(signal);
    const wait = this.breaker.left(clock.elapsed());
    return wait > 0 ? new Fault('upstream_unavailable', { retryAfterMs: wait }) : undefined;
  }

  private refuseWhileBroken(): void {
    const wait = this.breaker.wait(this.deps.clock.elapsed());
    if (wait > 0) throw new Fault('upstream_unavailable', { retryAfterMs: wait });
  }

  /** What a client declared and no link can say is no attempt, and nothing an upstream could be blamed for. */
  private mustBeSayable(session: string, capabilities: ClientCapabilities): void {
    try {
      JSON.stringify(capabilities);
    } catch (cause) {
      throw this.broken(session, cause);
    }
  }

  private failed(session: string, cause: unknown): Fault {
    const { clock, log, random } = this.deps;
    this.breaker.failed(clock.elapsed(), random());
    log.warn('session_link_failed', { session, err: cause });
    return new Fault('upstream_unavailable', { cause, retryAfterMs: this.breaker.wait(clock.elapsed()) });
  }

  private broken(session: string, cause: unknown): Fault {
    this.deps.log.error('session_link_broken', { session, err: cause });
    return new Fault('internal', { cause });
  }
}

function refusal({ aborted }: AbortSignal): Fault {
  return aborted ? new Fault('upstream_closed') : new Fault('at_capacity', { retryAfterMs: 1000 });
}

/** A throw of the gateway's own code. Those of Node about what it was given, which an upstream may have said, bear a code. */
function isOwn(cause: unknown): boolean {
  return (cause instanceof RangeError || cause instanceof TypeError) && !('code' in cause);
}
