export interface BreakerLimits {
  /** Failed connects in a row that open it. */
  readonly failures: number;
  /** Milliseconds it stays open the first time; doubles with each failed trial up to `maxOpen`. */
  readonly open: number;
  readonly maxOpen: number;
}

/** So that many gateways do not knock together, a wait is shorter by up to this share of it. */
const JITTER = 0.2;
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
    return this.left(now) || (this.trial ? TRIAL_MS : 0);
  }

  /** Milliseconds it stays open; 0 when it is not. */
  left(now: number): number {
    return Math.max(0, this.until - now);
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

  /** `random` is from 0 up to 1. */
  failed(now: number, random: number): void {
    this.trial = false;
    this.failures += 1;
    if (now < this.until || this.failures < this.limits.failures) return;
    const wait = Math.min(this.limits.open * 2 ** this.opened, this.limits.maxOpen);
    this.until = now + wait * (1 - JITTER * random);
    this.opened += 1;
  }
}
