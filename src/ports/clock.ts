/** Time as the gateway sees it; a test holds its own. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for token expiry and logs only. */
  now(): number;
  /** Monotonic milliseconds, fractions included: for every duration. */
  elapsed(): number;
  /** Runs `task` once after `ms` (any length, also beyond the 24.8 days one Node timer can hold); returns the way to cancel it. Never keeps the process alive. */
  after(ms: number, task: () => void): Cancel;
}

/** Idempotent. */
export type Cancel = () => void;
