export interface DeadlineLimits {
  /** Milliseconds without progress. */
  readonly idle: number;
  /** Milliseconds in all, progress or not. */
  readonly hard: number;
}

/** The moment a request is given up, in monotonic milliseconds: progress restarts the idle limit, never the hard one. */
export function dueAt(limits: DeadlineLimits, startedAt: number, touchedAt: number): number {
  return Math.min(touchedAt + limits.idle, startedAt + limits.hard);
}

/** Of a request that stays open until one side ends it. */
export const NO_DEADLINE: DeadlineLimits = { idle: Number.POSITIVE_INFINITY, hard: Number.POSITIVE_INFINITY };
