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
  expired(): void;
  graceOver(): void;
}

/** The clocks of one session: its opening and, where its token ends (epoch milliseconds), its end. Returns the way to stop them. */
export function startLife(clock: Clock, limits: LifeLimits, expiresAt: number | null, events: LifeEvents): Cancel {
  const stops = [clock.after(limits.firstMessage, events.unopened)];
  if (expiresAt !== null) {
    const left = Math.max(0, expiresAt + limits.clockTolerance - clock.now());
    stops.push(
      clock.after(left, () => {
        stops.push(clock.after(limits.expiryGrace, events.graceOver));
        events.expired();
      }),
    );
  }
  return () => {
    for (const stop of stops) stop();
  };
}
