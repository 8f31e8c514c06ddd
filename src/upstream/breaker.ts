export interface BreakerLimits {
  /** Failed connects in a row that open it. */
  readonly failures: number;
  /** Milliseconds it stays open the first time; doubles with each failed trial up to `maxOpen`. */
  readonly open: number;
  readonly maxOpen: number;
}

/** Counts failed connects only, never calls refused while it is open. Times are monotonic milliseconds. */
export class Breaker {
  private readonly limits: BreakerLimits;
  private failures = 0;
  private opened = 0;
  private until = 0;

  constructor(limits: BreakerLimits) {
    this.limits = limits;
  }

  /** Milliseconds until an attempt is allowed; 0 when it is now. */
  wait(now: number): number {
    return Math.max(0, this.until - now);
  }

  connected(): void {
    this.failures = 0;
    this.opened = 0;
    this.until = 0;
  }

  failed(now: number): void {
    this.failures += 1;
    if (this.failures < this.limits.failures) return;
    this.until = now + Math.min(this.limits.open * 2 ** this.opened, this.limits.maxOpen);
    this.opened += 1;
  }
}
