/** What doubles where no wait is configured. */
const LEAST_MS = 25;
const MAX_MS = 30_000;
/** An upstream may change that often in a row without a pause of so many milliseconds; from then on it is waited for longer, up to so many. */
const CHANGES_IN_A_ROW = 10;
const PAUSE_MS = 5_000;
const MAX_CHANGING_MS = 5_000;

export interface WalkOutcome {
  readonly differs: boolean;
  /** The upstream said that a list changed: a walk by the clock lengthens nothing. */
  readonly prompted: boolean;
  /** Milliseconds since the walk before it ended. */
  readonly pause: number;
}

/**
 * How long an upstream is left alone between two walks. Whoever announces changes that are none, or changes with every
 * list, is walked ever less often, so that it costs neither walks nor news without end.
 */
export class WalkGap {
  private readonly coalesceMs: number;
  private current: number;
  private changes = 0;

  constructor(coalesceMs: number) {
    this.coalesceMs = coalesceMs;
    this.current = coalesceMs;
  }

  get ms(): number {
    return this.current;
  }

  walked({ differs, prompted, pause }: WalkOutcome): void {
    if (differs) this.changed(prompted && pause <= Math.max(2 * this.current, PAUSE_MS));
    else if (prompted) this.current = this.longer(MAX_MS);
  }

  private changed(isInARow: boolean): void {
    this.changes = isInARow ? this.changes + 1 : 0;
    this.current = this.changes < CHANGES_IN_A_ROW ? this.coalesceMs : this.longer(MAX_CHANGING_MS);
  }

  private longer(limit: number): number {
    return Math.min(Math.max(this.current, LEAST_MS) * 2, limit);
  }
}
