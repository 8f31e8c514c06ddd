import type { Clock } from '../ports/clock.ts';
import type { Link } from '../ports/link.ts';
import type { Era } from '../protocol/era.ts';
import type { Opening } from './link-options.ts';

/** Opens a link in one era, on a channel of its own. */
export type Attempt = (opening: Opening) => Promise<Link>;

export interface Wish {
  readonly signal: AbortSignal | undefined;
  /** An old verdict is not good enough: the one who asks will live long by it. */
  readonly recheck: boolean;
  /** Asked before each attempt, and waited for: a rejection ends the opening, and says nothing about the upstream. */
  readonly turn?: (() => Promise<void>) | undefined;
}

/** Of all the time there is. Whoever gives an upstream longer says that it takes longer to speak: one that npx is still installing is not to be ended in the middle. */
const PROBE_SHARE = 1 / 3;
const LEAST_MS = 1;

/** One opening: what it may still take, and whether anybody wants it. */
export class OneOpening {
  readonly wish: Wish;
  private readonly attempt: Attempt;
  private readonly startTimeout: number;
  private readonly clock: Clock;
  private readonly startedAt: number;
  /** What ending channels took beyond the limits of attempts, and turns until they came: not the fault of the attempt that follows. */
  private overrun = 0;
  private isTurnedAway = false;

  constructor(attempt: Attempt, wish: Wish, startTimeout: number, clock: Clock) {
    this.attempt = attempt;
    this.wish = wish;
    this.startTimeout = startTimeout;
    this.clock = clock;
    this.startedAt = clock.elapsed();
  }

  /** Milliseconds, of which fewer than one are none: sums of fractions leave rests. */
  get left(): number {
    const left = this.startedAt + this.startTimeout + this.overrun - this.clock.elapsed();
    return left < LEAST_MS ? 0 : left;
  }

  /** Milliseconds. */
  get probeLimit(): number {
    return this.startTimeout * PROBE_SHARE;
  }

  /** Nobody wants it any more, or it has no turn: what it ends with is nothing the upstream has said or done. */
  get givenUp(): boolean {
    return this.isTurnedAway || this.wish.signal?.aborted === true;
  }

  /** The time it waits for its turn is none of `within`. */
  tries(era: Era, within: number): Promise<Link> {
    const { turn } = this.wish;
    return turn === undefined ? this.attempts(era, within) : this.takes(turn).then(() => this.attempts(era, within));
  }

  /** What somebody else's probe finds, or a rejection as soon as nobody wants that any more. */
  waits<T>(probing: Promise<T>): Promise<T> {
    return this.counted(this.probeLimit, this.orUnwanted(probing));
  }

  private async takes(turn: () => Promise<void>): Promise<void> {
    try {
      await this.counted(0, turn());
    } catch (cause) {
      this.isTurnedAway = true;
      throw cause;
    }
  }

  private attempts(era: Era, within: number): Promise<Link> {
    const limit = era === 'modern' ? within : this.startTimeout;
    const opens = era === 'modern' ? 'server/discover' : 'initialize';
    const over = `no answer to ${opens} within ${Math.round(limit)} ms`;
    return this.counted(within, this.attempt({ era, within, over, signal: this.wish.signal }));
  }

  private async counted<T>(limit: number, work: Promise<T>): Promise<T> {
    const from = this.clock.elapsed();
    try {
      return await work;
    } finally {
      this.overrun += Math.max(0, this.clock.elapsed() - from - limit);
    }
  }

  private orUnwanted<T>(waited: Promise<T>): Promise<T> {
    const { signal } = this.wish;
    if (signal === undefined) return waited;
    return new Promise((resolve, reject) => {
      const aborted = () => reject(signal.reason);
      if (signal.aborted) aborted();
      signal.addEventListener('abort', aborted, { once: true });
      waited.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
    });
  }
}
