import type { Clock } from '../ports/clock.ts';
import type { Link, LinkEvents } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Gauge } from '../ports/meter.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { Fault } from '../protocol/errors.ts';
import { Breaker, type BreakerLimits } from './breaker.ts';
import { Places } from './places.ts';

export interface OpeningsDeps {
  /** Links of sessions' own at once, those being opened included. */
  readonly maxLinks: number;
  readonly breaker: BreakerLimits;
  readonly open: (events: LinkEvents, capabilities: ClientCapabilities, signal: AbortSignal) => Promise<Link>;
  readonly clock: Clock;
  readonly log: Log;
  readonly links: Gauge;
}

export interface Wanted {
  readonly session: string;
  readonly events: LinkEvents;
  readonly capabilities: ClientCapabilities;
  /** Aborts when nobody wants the link any more. */
  readonly signal: AbortSignal;
}

/** Opens the links of sessions' own to one upstream, within its cap and its breaker. */
export class Openings {
  readonly places: Places;
  private readonly deps: OpeningsDeps;
  private readonly breaker: Breaker;

  constructor(deps: OpeningsDeps) {
    this.deps = deps;
    this.places = new Places(deps);
    this.breaker = new Breaker(deps.breaker);
  }

  /** Rejects with a Fault. Once it has resolved, the link has a place, which is to be given back when the link ends. */
  async link(wanted: Wanted): Promise<Link> {
    const { session, capabilities, signal } = wanted;
    this.refuseWhileBroken();
    this.mustBeSayable(session, capabilities);
    if (!(await this.places.take(signal))) {
      throw signal.aborted ? new Fault('upstream_closed') : new Fault('at_capacity', { retryAfterMs: 1000 });
    }
    try {
      return await this.attempt(wanted);
    } catch (cause) {
      this.places.free();
      throw cause;
    }
  }

  private async attempt({ session, events, capabilities, signal }: Wanted): Promise<Link> {
    const { breaker } = this;
    // Anew: the place may have been waited for.
    this.refuseWhileBroken();
    breaker.started();
    try {
      const link = await this.deps.open(events, capabilities, signal);
      breaker.connected();
      return link;
    } catch (cause) {
      if (!signal.aborted && !isOwn(cause)) throw this.failed(session, cause);
      breaker.abandoned();
      throw signal.aborted ? new Fault('upstream_closed') : this.broken(session, cause);
    }
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
    const { clock, log } = this.deps;
    this.breaker.failed(clock.elapsed());
    log.warn('session_link_failed', { session, err: cause });
    return new Fault('upstream_unavailable', { cause, retryAfterMs: this.breaker.wait(clock.elapsed()) });
  }

  private broken(session: string, cause: unknown): Fault {
    this.deps.log.error('session_link_broken', { session, err: cause });
    return new Fault('internal', { cause });
  }
}

/** A throw of the gateway's own code. Those of Node about what it was given, which an upstream may have said, bear a code. */
function isOwn(cause: unknown): boolean {
  return (cause instanceof RangeError || cause instanceof TypeError) && !('code' in cause);
}
