import type { Clock } from '../ports/clock.ts';

export interface Drainable {
  /** Takes no new requests and closes as soon as nothing is in flight. */
  drain(): void;
  /** Ends what is still in flight in an error, then the socket. */
  drainOver(): void;
}

export interface DrainParts {
  readonly sessions: Iterable<Drainable> & { empty(clock: Clock, ms: number): Promise<void> };
  readonly clock: Clock;
  /** Milliseconds that calls in flight may still take. */
  readonly inFlight: number;
}

/** After a close frame a socket is terminated within a second; the rest is for its `close` event. */
const CLOSING_MS = 1500;

/** Lets every session finish what it has in flight, then closes what is left. Returns at once where no socket is open. */
export async function drain({ sessions, clock, inFlight }: DrainParts): Promise<void> {
  for (const session of [...sessions]) session.drain();
  await sessions.empty(clock, inFlight);
  for (const session of [...sessions]) session.drainOver();
  await sessions.empty(clock, CLOSING_MS);
}
