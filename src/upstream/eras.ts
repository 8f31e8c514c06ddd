import type { Clock } from '../ports/clock.ts';
import type { Link } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Era } from '../protocol/era.ts';
import { AnsweredError } from '../protocol/errors.ts';
import { UnusableUpstream } from './discover.ts';
import type { Opening } from './link-options.ts';

export interface ErasOptions {
  /** Milliseconds for all that one opening takes. */
  readonly startTimeout: number;
  /** Of an upstream that is never probed. */
  readonly fixed: Era | undefined;
}

export interface ErasDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Opens a link in one era, on a channel of its own. */
export type Attempt = (opening: Opening) => Promise<Link>;

export interface Wish {
  readonly signal: AbortSignal | undefined;
  /** An old verdict is not good enough: the one who asks will live long by it. */
  readonly recheck: boolean;
}

type Settle = (found: Era | undefined) => void;

const PROBE_MS = 3000;
const PROBE_SHARE = 1 / 3;
const OLD_MS = 10 * 60_000;

/**
 * Which era one upstream is of. Where that is not known, a link of the modern era is tried first, and one of the other on
 * a channel of its own if that fails (MCP 2026-07-28, Versioning: backward compatibility): nothing is probed in place.
 */
export class Eras {
  private readonly options: ErasOptions;
  private readonly clock: Clock;
  private readonly log: Log;
  private verdict: { readonly era: Era; readonly at: number } | undefined;
  /** What those who wait for somebody else's probe go by; undefined where it said nothing. */
  private probing: Promise<Era | undefined> | undefined;

  constructor(options: ErasOptions, { clock, log }: ErasDeps) {
    this.options = options;
    this.clock = clock;
    this.log = log;
  }

  get known(): Era | undefined {
    return this.options.fixed ?? this.verdict?.era;
  }

  /** The next link finds out anew. */
  drop(): void {
    this.verdict = undefined;
  }

  /** Opens a link in the upstream's era; rejects with the cause, having left nothing behind. */
  async open(attempt: Attempt, wish: Wish): Promise<Link> {
    const one = new OneOpening(attempt, wish, this.options.startTimeout, this.clock);
    const era = await this.eraFor(one);
    if (era !== 'handshake') return this.modernFirst(one, era);
    try {
      return await this.initialize(one);
    } catch (cause) {
      if (!(cause instanceof AnsweredError)) throw cause;
      return this.refused(one, cause);
    }
  }

  /** A peer that answers `initialize` with an error may have changed its era: that is found out at once. */
  private async refused(one: OneOpening, cause: AnsweredError): Promise<Link> {
    const era = await this.eraFor(one);
    if (era === 'handshake') throw cause;
    try {
      return await this.modern(one, era);
    } catch (err) {
      this.log.debug('upstream_not_modern', { err });
      throw cause;
    }
  }

  private async modernFirst(one: OneOpening, era: 'modern' | Settle): Promise<Link> {
    try {
      return await this.modern(one, era);
    } catch (cause) {
      if (one.unwanted || one.left === 0 || cause instanceof UnusableUpstream) throw cause;
      this.log.debug('upstream_not_modern', { err: cause });
      return this.initialize(one);
    }
  }

  /** `settle` is there where this is the probe others wait for. */
  private async modern(one: OneOpening, settle: 'modern' | Settle): Promise<Link> {
    const isProbe = settle !== 'modern';
    const within = isProbe ? Math.min(one.probeLimit, one.left) : one.left;
    try {
      const link = await one.tries('modern', within);
      this.found('modern');
      if (isProbe) settle('modern');
      return link;
    } catch (cause) {
      if (!one.unwanted) this.drop();
      if (isProbe) settle(one.unwanted ? undefined : cause instanceof UnusableUpstream ? 'modern' : 'handshake');
      throw cause;
    }
  }

  private async initialize(one: OneOpening): Promise<Link> {
    try {
      const link = await one.tries('handshake', one.left);
      // A handshake says nothing about the other era: what is known of it stays as old as it is.
      if (this.verdict?.era !== 'handshake') this.found('handshake');
      return link;
    } catch (cause) {
      if (!one.unwanted) this.drop();
      throw cause;
    }
  }

  private found(era: Era): void {
    this.verdict = { era, at: this.clock.elapsed() };
  }

  /** The era to open in; where nobody knows, the caller is the one who finds out, and says so by what this gives. */
  private async eraFor(one: OneOpening): Promise<Era | Settle> {
    for (;;) {
      const trusted = this.trusted(one.wish);
      if (trusted !== undefined) return trusted;
      if (this.probing === undefined) return this.claim();
      const found = await one.waits(this.probing);
      if (found !== undefined) return found;
    }
  }

  private trusted({ recheck }: Wish): Era | undefined {
    const { verdict } = this;
    const isOld = verdict !== undefined && this.clock.elapsed() - verdict.at > OLD_MS;
    return this.options.fixed ?? (recheck && isOld ? undefined : verdict?.era);
  }

  private claim(): Settle {
    let settle: Settle = () => {};
    const probing = new Promise<Era | undefined>((resolve) => {
      settle = (found) => {
        this.probing = undefined;
        resolve(found);
      };
    });
    this.probing = probing;
    return (found) => settle(found);
  }
}

/** One opening: what it may still take, and whether anybody wants it. */
class OneOpening {
  readonly wish: Wish;
  private readonly attempt: Attempt;
  private readonly startTimeout: number;
  private readonly clock: Clock;
  private readonly startedAt: number;
  /** What ending channels took beyond the limits of attempts: not the fault of the one that follows. */
  private overrun = 0;

  constructor(attempt: Attempt, wish: Wish, startTimeout: number, clock: Clock) {
    this.attempt = attempt;
    this.wish = wish;
    this.startTimeout = startTimeout;
    this.clock = clock;
    this.startedAt = clock.elapsed();
  }

  /** Milliseconds. */
  get left(): number {
    return Math.max(0, this.startedAt + this.startTimeout + this.overrun - this.clock.elapsed());
  }

  /** Milliseconds. */
  get probeLimit(): number {
    return Math.min(PROBE_MS, this.startTimeout * PROBE_SHARE);
  }

  get unwanted(): boolean {
    return this.wish.signal?.aborted === true;
  }

  tries(era: Era, within: number): Promise<Link> {
    const limit = era === 'modern' ? within : this.startTimeout;
    const opens = era === 'modern' ? 'server/discover' : 'initialize';
    const over = `no answer to ${opens} within ${Math.round(limit)} ms`;
    return this.counted(within, this.attempt({ era, within, over, signal: this.wish.signal }));
  }

  /** What somebody else's probe finds, or a rejection as soon as nobody wants that any more. */
  waits<T>(probing: Promise<T>): Promise<T> {
    return this.counted(this.probeLimit, this.orUnwanted(probing));
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
