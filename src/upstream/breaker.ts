export interface BreakerLimits {
  /** Failed connects in a row that open it. */
  readonly failures: number;
  /** Milliseconds it stays open the first time; doubles with each failed trial up to `maxOpen`. */
  readonly open: number;
  readonly maxOpen: number;
}

/** What callers are told to wait while somebody else's trial is under way. */
const TRIAL_MS = 1000;

/**
 * Counts failed connects only, never calls refused while it is open. Once open, one trial at a time decides: it closes the
 * breaker or opens it for twice as long. Times are monotonic milliseconds.
 */
export class Breaker {
  private readonly limits: BreakerLimits;
  private failures = 0;
  private opened = 0;
  private until = 0;
  private trial = false;

  constructor(limits: BreakerLimits) {
    this.limits = limits;
  }

  /** Milliseconds until an attempt is allowed; 0 when it is now. */
  wait(now: number): number {
    if (now < this.until) return this.until - now;
    return this.trial ? TRIAL_MS : 0;
  }

  /** An attempt begins; each ends in `connected`, `failed` or `abandoned`. */
  started(): void {
    this.trial = this.opened > 0;
  }

  connected(): void {
    this.failures = 0;
    this.opened = 0;
    this.until = 0;
    this.trial = false;
  }

  /** The attempt ended without saying anything about the upstream. */
  abandoned(): void {
    this.trial = false;
  }

  failed(now: number): void {
    this.trial = false;
    this.failures += 1;
    if (now < this.until || this.failures < this.limits.failures) return;
    this.until = now + Math.min(this.limits.open * 2 ** this.opened, this.limits.maxOpen);
    this.opened += 1;
  }
}
