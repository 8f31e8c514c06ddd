import type { Cancel, Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Counters, ListKind, Meter } from '../ports/meter.ts';
import type { Catalogue } from './catalogue.ts';
import type { SeenPart } from './snapshot.ts';
import { WalkGap } from './walk-gap.ts';

/** What a walk of one upstream found. */
export interface Listing {
  readonly part: SeenPart;
  /** Kinds that got no answer; they are walked again. */
  readonly failed: readonly ListKind[];
}

/** Why lists were walked: for this gateway's own reasons, or because another replica found a difference and nothing else. */
export type WalkCause = 'own' | 'hint';

export interface RefresherOptions {
  readonly catalogue: Pick<Catalogue, 'replace'>;
  /** Lists these kinds of an upstream anew, over the link it has now. Rejects where it has none. */
  readonly walk: (upstream: string, kinds: readonly ListKind[]) => Promise<Listing>;
  /** Called after the catalogue has taken in a difference; never for none. */
  readonly changed: (upstream: string, kinds: readonly ListKind[], cause: WalkCause) => void;
  /** `listChangeCoalesce`, milliseconds. */
  readonly coalesceMs: number;
  /** `relist` of an upstream, milliseconds: walked after that long without a walk. */
  readonly relistMs: (upstream: string) => number;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
}

const ALL: readonly ListKind[] = ['tools', 'resources', 'prompts'];
const SOON_MS = 2_000;

/** Turns what upstreams say of their lists into few walks and the differences they find. */
export class Refresher {
  private readonly options: RefresherOptions;
  private readonly schedules = new Map<string, Schedule>();
  private closed = false;

  constructor(options: RefresherOptions) {
    this.options = options;
  }

  /** An upstream says that a list changed. All that is said within `coalesceMs` is one walk of the kinds it names. */
  heard(upstream: string, kind: ListKind): void {
    if (this.closed) return;
    this.count('heard', [kind]);
    this.scheduleOf(upstream).want([kind]);
  }

  /** Somebody else knows that these lists may have changed. Walked as if the upstream had said so, but that hints in vain lengthen no gap. */
  hinted(upstream: string, kinds: readonly ListKind[]): void {
    if (!this.closed) this.scheduleOf(upstream).hint(kinds);
  }

  /**
   * For somebody who waits and guesses that a list changed. Resolves when the walk under way, or else the next, has ended,
   * with whether the upstream answered it; at once, with false, where the next is not due within 2 s.
   */
  soon(upstream: string, kind: ListKind): Promise<boolean> {
    return this.closed ? Promise.resolve(false) : this.scheduleOf(upstream).soon(kind);
  }

  /** For a fresh link: walks everything at once. Resolves when a walk begun after this call has ended, with whether the upstream answered it. */
  refreshNow(upstream: string): Promise<boolean> {
    return this.closed ? Promise.resolve(false) : this.scheduleOf(upstream).now();
  }

  /** An upstream that is no longer of concern: no walk of it begins, and what one under way finds is dropped. */
  forget(upstream: string): void {
    this.schedules.get(upstream)?.close();
    this.schedules.delete(upstream);
  }

  /** Idempotent. Nothing is walked or reported afterwards, also not what a walk under way finds. */
  close(): void {
    this.closed = true;
    for (const schedule of this.schedules.values()) schedule.close();
    this.schedules.clear();
  }

  private scheduleOf(upstream: string): Schedule {
    const known = this.schedules.get(upstream);
    if (known !== undefined) return known;
    const { clock, coalesceMs, relistMs } = this.options;
    const walk: Walk = (kinds, cause) =>
      this.walk(upstream, kinds, cause, () => this.schedules.get(upstream) !== schedule);
    const schedule: Schedule = new Schedule(walk, clock, coalesceMs, relistMs(upstream));
    this.schedules.set(upstream, schedule);
    return schedule;
  }

  private async walk(
    upstream: string,
    kinds: readonly ListKind[],
    cause: () => WalkCause,
    isOver: () => boolean,
  ): Promise<Outcome> {
    const { catalogue, log } = this.options;
    this.count('walked', kinds);
    try {
      const { part, failed } = await this.options.walk(upstream, kinds);
      if (isOver()) return NOTHING;
      const changed = catalogue.replace(upstream, part);
      this.count('changed', changed);
      if (changed.length > 0) this.options.changed(upstream, changed, cause());
      return { answered: failed.length === 0, differs: changed.length > 0, failed };
    } catch (err) {
      if (!isOver()) log.warn('walk_failed', { upstream, err });
      return NOTHING;
    }
  }

  private count(stage: Counters['list_changes_total']['stage'], kinds: readonly ListKind[]): void {
    for (const kind of kinds) this.options.meter.counter('list_changes_total', { kind, stage }).add();
  }
}

interface Outcome {
  readonly answered: boolean;
  readonly differs: boolean;
  readonly failed: readonly ListKind[];
}

/** Why it is walked shows at its end. */
type Walk = (kinds: readonly ListKind[], cause: () => WalkCause) => Promise<Outcome>;

const NOTHING: Outcome = { answered: false, differs: false, failed: [] };

/**
 * When one upstream is walked. A walk comes `coalesceMs` after the first wish for it, and no sooner after the last walk
 * than `gap`. Wishes during a walk make one more.
 */
class Schedule {
  private readonly walk: Walk;
  private readonly clock: Clock;
  private readonly coalesceMs: number;
  private readonly relistMs: number;
  private readonly wanted = new Set<ListKind>();
  private waiting: ((answered: boolean) => void)[] = [];
  private readonly gap: WalkGap;
  private lastEnd = Number.NEGATIVE_INFINITY;
  private walking = false;
  /** Whether the upstream prompted the next walk, and the one under way: relisting by the clock does not lengthen the gap. */
  private nextPrompted = false;
  private prompted = false;
  /** Why there is a next walk, and the one under way. */
  private nextCause: WalkCause = 'hint';
  private cause: WalkCause = 'hint';
  private cancelWalk: Cancel | undefined;
  private cancelRelist: Cancel | undefined;
  private closed = false;
  /** Resolves the calls of `now` that the walk under way serves. */
  private served: ((answered: boolean) => void)[] = [];

  constructor(walk: Walk, clock: Clock, coalesceMs: number, relistMs: number) {
    this.walk = walk;
    this.clock = clock;
    this.coalesceMs = coalesceMs;
    this.relistMs = relistMs;
    this.gap = new WalkGap(coalesceMs);
  }

  want(kinds: readonly ListKind[]): void {
    this.nextCause = 'own';
    // What the walk under way finds may be what is meant, and the next one then finds nothing.
    this.cause = 'own';
    this.again(kinds);
  }

  hint(kinds: readonly ListKind[]): void {
    for (const kind of kinds) this.wanted.add(kind);
    if (!this.walking) this.plan();
  }

  soon(kind: ListKind): Promise<boolean> {
    const wait = Math.max(this.coalesceMs, this.lastEnd + this.gap.ms - this.clock.elapsed());
    this.want([kind]);
    if (!this.walking && wait > SOON_MS) return Promise.resolve(false);
    return new Promise((resolve) => {
      if (this.walking) this.served.push(resolve);
      else this.waiting.push(resolve);
    });
  }

  now(): Promise<boolean> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.relist();
    });
  }

  close(): void {
    this.closed = true;
    this.cancelWalk?.();
    this.cancelRelist?.();
    for (const resolve of [...this.served, ...this.waiting]) resolve(false);
  }

  /** Walks for the reason there is, and no sooner each time where it is in vain. */
  private again(kinds: readonly ListKind[]): void {
    this.nextPrompted = true;
    if (this.cause === 'own') this.nextCause = 'own';
    this.hint(kinds);
  }

  private relist(): void {
    this.nextCause = 'own';
    for (const kind of ALL) this.wanted.add(kind);
    if (!this.walking) this.begin();
  }

  private plan(): void {
    const earliest = this.lastEnd + this.gap.ms - this.clock.elapsed();
    this.cancelWalk ??= this.clock.after(Math.max(this.coalesceMs, earliest), () => this.begin());
  }

  private begin(): void {
    this.cancelWalk?.();
    this.cancelWalk = undefined;
    this.cancelRelist?.();
    this.walking = true;
    const kinds = ALL.filter((kind) => this.wanted.has(kind));
    this.wanted.clear();
    this.prompted = this.nextPrompted;
    this.nextPrompted = false;
    this.cause = this.nextCause;
    this.nextCause = 'hint';
    this.served = this.waiting;
    this.waiting = [];
    void this.walk(kinds, () => this.cause).then((outcome) => this.end(outcome));
  }

  private end({ answered, differs, failed }: Outcome): void {
    if (this.closed) return;
    this.walking = false;
    const now = this.clock.elapsed();
    this.gap.walked({ differs, prompted: this.prompted, pause: now - this.lastEnd });
    this.lastEnd = now;
    for (const resolve of this.served) resolve(answered);
    this.cancelRelist = this.clock.after(this.relistMs, () => this.relist());
    if (failed.length > 0) this.again(failed);
    if (this.waiting.length > 0) this.begin();
    else if (this.wanted.size > 0) this.plan();
  }
}
