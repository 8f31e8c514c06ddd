import type { Clock } from '../ports/clock.ts';
import type { Link } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Era } from '../protocol/era.ts';
import { AnsweredError } from '../protocol/errors.ts';
import { UnusableUpstream } from './discover.ts';
import { type Attempt, OneOpening, type Wish } from './one-opening.ts';
import { TimeOver } from './time-limit.ts';

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

type Settle = (found: Era | undefined) => void;

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
  private found: Era | undefined;
  /** It said nothing in the time of a probe, and is not of the other era as far as one knows: the next probe has all the time there is. */
  private isSlow = false;
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

  /** As it was found last, however long ago. */
  get last(): Era | undefined {
    return this.options.fixed ?? this.found;
  }

  /** The next link finds out anew. */
  drop(): void {
    this.verdict = undefined;
  }

  /** Opens a link in the upstream's era; rejects with the cause, having left nothing behind. */
  async open(attempt: Attempt, wish: Wish): Promise<Link> {
    const one = new OneOpening(attempt, wish, this.options.startTimeout, this.clock);
    const era = await this.eraFor(one);
    return era === 'handshake' ? this.handshakeFirst(one) : this.modernFirst(one, era);
  }

  /** A peer that answers `initialize` with an error may have changed its era: that is found out at once. */
  private async handshakeFirst(one: OneOpening): Promise<Link> {
    try {
      return await this.initialize(one);
    } catch (cause) {
      if (!(cause instanceof AnsweredError)) throw cause;
      return this.refused(one, cause);
    }
  }

  /** There is no other era left to try: all the time that is left is the modern one's. */
  private async refused(one: OneOpening, cause: AnsweredError): Promise<Link> {
    if (one.left === 0) {
      this.isSlow = true;
      throw cause;
    }
    const era = await this.eraFor(one);
    if (era === 'handshake') throw cause;
    try {
      return await this.modern(one, era, one.left);
    } catch (err) {
      if (err instanceof TimeOver) this.isSlow = true;
      this.log.debug('upstream_not_modern', { err });
      throw one.givenUp ? err : cause;
    }
  }

  private async modernFirst(one: OneOpening, era: 'modern' | Settle): Promise<Link> {
    const isProbe = era !== 'modern' && !this.isSlow;
    try {
      return await this.modern(one, era, isProbe ? Math.min(one.probeLimit, one.left) : one.left);
    } catch (cause) {
      if (one.givenUp || one.left === 0 || cause instanceof UnusableUpstream) throw cause;
      this.log.debug('upstream_not_modern', { err: cause });
      return cause instanceof TimeOver ? this.afterSilence(one) : this.initialize(one);
    }
  }

  /** The probe was not answered in its time, which says little: what follows may say more. */
  private async afterSilence(one: OneOpening): Promise<Link> {
    try {
      return await this.handshakeFirst(one);
    } catch (cause) {
      if (cause instanceof TimeOver && this.found !== 'handshake') this.isSlow = true;
      throw cause;
    }
  }

  /** `settle` is there where this is the probe others wait for. */
  private async modern(one: OneOpening, settle: 'modern' | Settle, within: number): Promise<Link> {
    const isProbe = settle !== 'modern';
    try {
      const link = await one.tries('modern', within);
      this.learn('modern');
      if (isProbe) settle('modern');
      return link;
    } catch (cause) {
      if (!one.givenUp) this.isSlow = false;
      if (!one.givenUp) this.drop();
      if (isProbe) settle(one.givenUp ? undefined : cause instanceof UnusableUpstream ? 'modern' : 'handshake');
      throw cause;
    }
  }

  private async initialize(one: OneOpening): Promise<Link> {
    try {
      const link = await one.tries('handshake', one.left);
      // A handshake says nothing about the other era: what is known of it stays as old as it is.
      if (this.verdict?.era !== 'handshake') this.learn('handshake');
      return link;
    } catch (cause) {
      if (!one.givenUp) this.drop();
      throw cause;
    }
  }

  private learn(era: Era): void {
    this.isSlow = false;
    this.found = era;
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
