import type { Cancel, Clock } from '../ports/clock.ts';

export interface AgeLimits {
  /** Milliseconds, give or take a tenth; null: a socket may become as old as it likes. */
  readonly connectionAge: number | null;
  readonly drain: { readonly inFlight: number };
}

export interface AgeEvents {
  /** From now on the session drains. */
  aged(): void;
  /** What was in flight then has had its time. */
  over(): void;
}

/** Of the age, either way: sockets that came together do not go together. */
const JITTER = 0.1;

/** The end that the age of its socket puts to a session. `random` is from 0 up to 1. Returns the way to stop it. */
export function startAge(clock: Clock, limits: AgeLimits, random: () => number, events: AgeEvents): Cancel {
  const { connectionAge, drain } = limits;
  if (connectionAge === null) return () => {};
  let stop = clock.after(connectionAge * (1 - JITTER + 2 * JITTER * random()), () => {
    stop = clock.after(drain.inFlight, () => events.over());
    events.aged();
  });
  return () => stop();
}
