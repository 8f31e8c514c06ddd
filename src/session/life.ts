import type { Cancel, Clock } from '../ports/clock.ts';

export interface LifeLimits {
  /** Milliseconds a socket may stay open without a session; absolute, nothing a client sends extends it. */
  readonly firstMessage: number;
  readonly clockTolerance: number;
  /** Milliseconds that calls in flight still have once the token has expired. */
  readonly expiryGrace: number;
}

export interface LifeEvents {
  unopened(): void;
  /** The token ends soon. */
  expiring(): void;
  expired(): void;
  graceOver(): void;
}

/** A client has a tenth of what was left of its token to bring another, and no more than this. Milliseconds. */
const LONGEST_NOTICE = 60_000;

/** The clocks of one session: its opening and, where its token ends (epoch milliseconds), what comes before, at and after that. */
export class Life {
  private readonly clock: Clock;
  private readonly limits: LifeLimits;
  private readonly events: LifeEvents;
  private readonly stopOpening: Cancel;
  private stops: Cancel[] = [];

  constructor(clock: Clock, limits: LifeLimits, expiresAt: number | null, events: LifeEvents) {
    this.clock = clock;
    this.limits = limits;
    this.events = events;
    this.stopOpening = clock.after(limits.firstMessage, () => events.unopened());
    this.await(expiresAt);
  }

  /** Another token counts from now on. */
  renew(expiresAt: number | null): void {
    this.forget();
    this.await(expiresAt);
  }

  stop(): void {
    this.stopOpening();
    this.forget();
  }

  private await(expiresAt: number | null): void {
    if (expiresAt === null) return;
    const { clock, limits, events } = this;
    const left = expiresAt - clock.now();
    const notice = Math.min(LONGEST_NOTICE, left / 10);
    this.stops = [
      clock.after(Math.max(0, left - notice), () => events.expiring()),
      clock.after(Math.max(0, left + limits.clockTolerance), () => {
        this.stops.push(clock.after(limits.expiryGrace, () => events.graceOver()));
        events.expired();
      }),
    ];
  }

  private forget(): void {
    for (const stop of this.stops.splice(0)) stop();
  }
}
