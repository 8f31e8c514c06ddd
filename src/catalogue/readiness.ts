import type { Cancel, Clock } from '../ports/clock.ts';

export interface ReadinessUpstream {
  readonly key: string;
  /** Ready only after it answered once. */
  readonly required: boolean;
  /** Milliseconds after which an upstream that has said nothing is not waited for. */
  readonly startTimeout: number;
}

export type UpstreamState = 'waiting' | 'answered' | 'failed' | 'late';

export interface ReadinessDetail {
  readonly ready: boolean;
  readonly upstreams: Readonly<Record<string, UpstreamState>>;
}

/** What is known of the upstreams' first answers: connect, initialize and first list together. */
export class Readiness {
  private readonly states = new Map<string, UpstreamState>();
  private readonly required: ReadonlySet<string>;
  private readonly timers: Cancel[];
  private readonly clock: Clock;
  private waiters: (() => void)[] = [];

  constructor(upstreams: readonly ReadinessUpstream[], clock: Clock) {
    this.clock = clock;
    this.required = new Set(upstreams.filter((u) => u.required).map((u) => u.key));
    for (const { key } of upstreams) this.states.set(key, 'waiting');
    this.timers = upstreams.map(({ key, startTimeout }) => clock.after(startTimeout, () => this.settle(key, 'late')));
  }

  answered(upstream: string): void {
    this.settle(upstream, 'answered');
  }

  failed(upstream: string): void {
    this.settle(upstream, 'failed');
  }

  /** Every upstream answered, failed once or is late; every required one answered. */
  get detail(): ReadinessDetail {
    const unanswered = [...this.required].some((key) => this.states.get(key) !== 'answered');
    return { ready: this.settled && !unanswered, upstreams: Object.fromEntries(this.states) };
  }

  /** Resolves when no upstream is waited for any more, or after `ms`. */
  firstAnswers(ms: number): Promise<void> {
    if (this.settled) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.clock.after(ms, resolve);
      this.waiters.push(() => {
        stop();
        resolve();
      });
    });
  }

  close(): void {
    for (const stop of this.timers) stop();
    this.release();
  }

  private get settled(): boolean {
    return ![...this.states.values()].includes('waiting');
  }

  private settle(upstream: string, state: UpstreamState): void {
    const before = this.states.get(upstream);
    if (before === 'answered' || (before !== 'waiting' && state !== 'answered')) return;
    this.states.set(upstream, state);
    if (this.settled) this.release();
  }

  private release(): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const waiter of waiters) waiter();
  }
}
