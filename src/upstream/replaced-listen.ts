import type { Clock } from '../ports/clock.ts';
import type { Id } from '../protocol/envelope.ts';
import { type Filter, inBoth } from '../protocol/listen.ts';
import type { Line } from './dialect.ts';

/** A listen that was acknowledged. */
export interface Acknowledged {
  readonly id: number;
  readonly honored: Filter;
  /** Monotonic milliseconds. */
  readonly since: number;
}

/** How long what a replaced listen was told is waited for. Milliseconds. */
const LINGER_MS = 1000;

/**
 * The listen replaced last. Where every request has a stream of its own, what was written on the old listen before the new
 * one was acknowledged may be read only after that: it counts for a second, as far as both honor it.
 */
export class ReplacedListen {
  private readonly line: Pick<Line, 'retire'>;
  private readonly clock: Clock;
  private last: Acknowledged | undefined;

  constructor(line: Pick<Line, 'retire'>, clock: Clock) {
    this.line = line;
    this.clock = clock;
  }

  /** Ends `before`, if there is one. */
  replace(before: Acknowledged | undefined, by: Acknowledged): void {
    const lingers = before !== undefined && this.line.retire(before.id, LINGER_MS);
    this.last = lingers ? { id: before.id, honored: inBoth(before.honored, by.honored), since: by.since } : undefined;
  }

  /** What is still heard of under this id; undefined where nothing is. */
  honored(id: Id | undefined): Filter | undefined {
    const { last } = this;
    if (last === undefined || last.id !== id || this.clock.elapsed() > last.since + LINGER_MS) return undefined;
    return last.honored;
  }
}
