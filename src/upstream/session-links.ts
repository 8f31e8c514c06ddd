import type { Cancel, Clock } from '../ports/clock.ts';
import type { Link, LinkEvents, LinkUser } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Gauge, ListKind } from '../ports/meter.ts';
import { Fault } from '../protocol/errors.ts';
import { backoff } from './backoff.ts';
import { Breaker, type BreakerLimits } from './breaker.ts';

export interface SessionLinksDeps {
  readonly upstream: string;
  readonly maxLinks: number;
  /** Milliseconds without a call or subscription after which a link is closed. */
  readonly idle: number;
  readonly breaker: BreakerLimits;
  readonly open: (events: LinkEvents) => Promise<Link>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly links: Gauge;
  /** A session link told of a change: the catalogue link has it too, or will. */
  readonly listChanged: (kind: ListKind) => void;
}

/** One session's use of this upstream: its link while it has one, its subscriptions across links. */
interface Use {
  readonly user: LinkUser;
  readonly uris: Set<string>;
  link: Link | Promise<Link> | undefined;
  usedAt: number;
  failures: number;
  stopTimer: Cancel;
}

/** The links of one upstream with `isolation: session`: each session its own, opened on first use, never lent. */
export class SessionLinks {
  private readonly deps: SessionLinksDeps;
  private readonly uses = new Map<string, Use>();
  private readonly breaker: Breaker;
  private open = 0;

  constructor(deps: SessionLinksDeps) {
    this.deps = deps;
    this.breaker = new Breaker(deps.breaker);
  }

  acquire(user: LinkUser): Link | Promise<Link> {
    const use = this.useOf(user);
    use.usedAt = this.deps.clock.elapsed();
    return use.link ?? this.connect(use);
  }

  async subscribe(uri: string, user: LinkUser): Promise<void> {
    const use = this.useOf(user);
    const link = await this.acquire(user);
    await link.ask('resources/subscribe', JSON.stringify({ uri }));
    use.uris.add(uri);
  }

  async unsubscribe(uri: string, user: LinkUser): Promise<void> {
    const use = this.uses.get(user.session);
    if (use?.uris.delete(uri) !== true || use.link === undefined) return;
    await (await use.link).ask('resources/unsubscribe', JSON.stringify({ uri }));
  }

  /** Closes the session's link, also one still being opened. */
  release(session: string): void {
    const use = this.uses.get(session);
    if (use !== undefined) void this.end(use);
  }

  async close(): Promise<void> {
    await Promise.all([...this.uses.values()].map((use) => this.end(use)));
  }

  private useOf(user: LinkUser): Use {
    const known = this.uses.get(user.session);
    if (known !== undefined) return known;
    const use: Use = { user, uris: new Set(), link: undefined, usedAt: 0, failures: 0, stopTimer: () => {} };
    this.uses.set(user.session, use);
    return use;
  }

  private connect(use: Use): Promise<Link> {
    const wait = this.breaker.wait(this.deps.clock.elapsed());
    if (wait > 0) return Promise.reject(new Fault('upstream_unavailable', { retryAfterMs: wait }));
    if (this.open >= this.deps.maxLinks) return Promise.reject(new Fault('at_capacity', { retryAfterMs: 1000 }));
    this.count(1);
    const opening = this.dial(use).then(
      (link) => this.connected(use, link),
      (cause: unknown) => this.failed(use, cause),
    );
    use.link = opening;
    return opening;
  }

  private dial({ user }: Use): Promise<Link> {
    const { upstream, listChanged } = this.deps;
    return this.deps.open({
      listChanged,
      updated: (uri) => user.updated(upstream, uri),
      logged: (notification) => user.logged(upstream, notification),
      closed: (cause) => this.lost(user.session, cause),
    });
  }

  private connected(use: Use, link: Link): Link {
    this.breaker.connected();
    if (this.uses.get(use.user.session) !== use) {
      this.count(-1);
      void link.close();
      throw new Fault('upstream_closed');
    }
    use.failures = 0;
    use.link = link;
    this.watchIdle(use, link, this.deps.idle);
    return link;
  }

  private failed(use: Use, cause: unknown): never {
    this.count(-1);
    use.link = undefined;
    use.failures += 1;
    this.breaker.failed(this.deps.clock.elapsed());
    this.deps.log.warn('session_link_failed', { session: use.user.session, err: cause });
    throw new Fault('upstream_unavailable', { cause, retryAfterMs: this.breaker.wait(this.deps.clock.elapsed()) });
  }

  private lost(session: string, cause: Error | undefined): void {
    const use = this.uses.get(session);
    if (use?.link === undefined) return;
    this.count(-1);
    use.link = undefined;
    use.stopTimer();
    this.deps.log.warn('session_link_closed', { session, err: cause });
    if (use.uris.size > 0) this.restoreLater(use);
  }

  /** A lost link with subscriptions is opened anew without being asked; each subscription then hears one update. */
  private restoreLater(use: Use): void {
    const { clock, random, log } = this.deps;
    use.stopTimer = clock.after(backoff(use.failures, random()), () => {
      this.restore(use).catch((err: unknown) => {
        log.warn('resubscribe_failed', { session: use.user.session, err });
        if (this.uses.get(use.user.session) === use && use.link === undefined) this.restoreLater(use);
      });
    });
  }

  private async restore(use: Use): Promise<void> {
    const link = await this.acquire(use.user);
    for (const uri of [...use.uris]) {
      await link.ask('resources/subscribe', JSON.stringify({ uri }));
      use.user.updated(this.deps.upstream, uri);
    }
  }

  private watchIdle(use: Use, link: Link, wait: number): void {
    const { clock, idle } = this.deps;
    use.stopTimer = clock.after(wait, () => {
      const left = use.usedAt + idle - clock.elapsed();
      if (link.inFlight > 0 || use.uris.size > 0) this.watchIdle(use, link, idle);
      else if (left > 0) this.watchIdle(use, link, left);
      else void this.end(use);
    });
  }

  private async end(use: Use): Promise<void> {
    const { link } = use;
    use.stopTimer();
    this.uses.delete(use.user.session);
    if (link === undefined) return;
    try {
      await (await link).close();
      this.count(-1);
    } catch {
      // A link that failed to open has released everything itself.
    }
  }

  private count(change: 1 | -1): void {
    this.open += change;
    this.deps.links.add(change);
  }
}
