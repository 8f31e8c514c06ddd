import type { Clock } from '../ports/clock.ts';
import type { Link, LinkEvents } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Gauge } from '../ports/meter.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { Fault } from '../protocol/errors.ts';
import { Breaker, type BreakerLimits } from './breaker.ts';

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
  private readonly deps: OpeningsDeps;
  private readonly breaker: Breaker;
  private open = 0;

  constructor(deps: OpeningsDeps) {
    this.deps = deps;
    this.breaker = new Breaker(deps.breaker);
  }

  /** Rejects with a Fault. Once it has resolved, `gone` must be called when the link has ended. */
  async link({ session, events, capabilities, signal }: Wanted): Promise<Link> {
    const { clock, maxLinks, log } = this.deps;
    const wait = this.breaker.wait(clock.elapsed());
    if (wait > 0) throw new Fault('upstream_unavailable', { retryAfterMs: wait });
    if (this.open >= maxLinks) throw new Fault('at_capacity', { retryAfterMs: 1000 });
    this.count(1);
    this.breaker.started();
    try {
      const link = await this.deps.open(events, capabilities, signal);
      this.breaker.connected();
      return link;
    } catch (cause) {
      this.count(-1);
      if (signal.aborted) {
        this.breaker.abandoned();
        throw new Fault('upstream_closed');
      }
      this.breaker.failed(clock.elapsed());
      log.warn('session_link_failed', { session, err: cause });
      throw new Fault('upstream_unavailable', { cause, retryAfterMs: this.breaker.wait(clock.elapsed()) });
    }
  }

  gone(): void {
    this.count(-1);
  }

  private count(change: 1 | -1): void {
    this.open += change;
    this.deps.links.add(change);
  }
}
