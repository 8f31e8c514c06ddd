import type { Clock } from '../ports/clock.ts';
import type { Link, LinkEvents, LinkUser } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { ListKind } from '../ports/meter.ts';
import { Fault } from '../protocol/errors.ts';
import { backoff } from './backoff.ts';
import { Endings } from './endings.ts';
import { askOnceMore } from './once-more.ts';
import type { Openings } from './openings.ts';
import { restoreEach } from './restoring.ts';
import { isIdle, newUse, type Use } from './session-use.ts';
import type { Spare } from './spares.ts';
import type { Users } from './users.ts';

export interface SessionLinksDeps {
  readonly upstream: string;
  readonly openings: Openings;
  readonly users: Users;
  /** Milliseconds without a call or subscription after which a link is closed. */
  readonly idle: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** A session link told of a change: the catalogue link has it too, or will. */
  readonly listChanged: (kind: ListKind) => void;
}

/** The links of one upstream with `isolation: session`: each session its own, opened on first use, never lent. */
export class SessionLinks {
  private readonly deps: SessionLinksDeps;
  private readonly uses = new Map<string, Use>();
  /** The log level each session asked for, across its links. */
  private readonly levels = new Map<string, string>();
  /** Links on their way out. */
  private readonly endings = new Endings();

  constructor(deps: SessionLinksDeps) {
    this.deps = deps;
    deps.openings.source(() => this.spares());
  }

  acquire(user: LinkUser): Link | Promise<Link> {
    const use = this.useOf(user);
    if (use === undefined) return Promise.reject(new Fault('upstream_closed'));
    use.usedAt = this.deps.clock.elapsed();
    return use.link ?? this.connect(use);
  }

  async subscribe(uri: string, user: LinkUser): Promise<void> {
    const use = this.useOf(user);
    if (use === undefined) throw new Fault('upstream_closed');
    const source = { acquire: () => this.acquire(user), current: () => use.link };
    use.subscribing += 1;
    try {
      await askOnceMore(source, (link) => link.subscribe(uri));
      use.uris.add(uri);
    } finally {
      use.subscribing -= 1;
    }
  }

  async unsubscribe(uri: string, user: LinkUser): Promise<void> {
    const use = this.uses.get(user.session);
    if (use?.uris.delete(uri) !== true || use.link === undefined) return;
    await (await use.link).unsubscribe(uri);
  }

  async setLevel(level: string, user: LinkUser): Promise<void> {
    if (!this.deps.users.admits(user)) return;
    const { session } = user;
    this.levels.set(session, level);
    const link = this.uses.get(session)?.link;
    if (link !== undefined && !(link instanceof Promise)) await this.tellLevel(session, link);
  }

  /** Only a link that is up: one still opening reads the client's state when it is. */
  notify(text: string, user: LinkUser): void {
    const link = this.uses.get(user.session)?.link;
    if (link === undefined || link instanceof Promise) return;
    link.notify(text);
    user.wrote(link);
  }

  /** Closes the session's link, also one still being opened. */
  release(session: string): void {
    this.levels.delete(session);
    this.leave(session);
  }

  /** The same of a session that goes on, and may open another. */
  leave(session: string): void {
    const use = this.uses.get(session);
    if (use !== undefined) this.end(use);
  }

  /** Resolves when nothing is left, also of links whose session was released before. */
  async close(): Promise<void> {
    for (const use of this.uses.values()) this.end(use);
    await this.endings.over();
  }

  /** None for a session that was released. */
  private useOf(user: LinkUser): Use | undefined {
    const known = this.uses.get(user.session);
    if (known !== undefined) return known;
    if (!this.deps.users.admits(user)) return undefined;
    const use = newUse(user);
    this.uses.set(user.session, use);
    return use;
  }

  private connect(use: Use): Promise<Link> {
    const opening = this.dial(use).then(
      (link) => this.connected(use, link),
      (cause: unknown) => this.failed(use, cause),
    );
    use.link = opening;
    return opening;
  }

  private dial(use: Use): Promise<Link> {
    const { user, ending } = use;
    const { upstream, openings, listChanged } = this.deps;
    const events: LinkEvents = {
      listChanged: (kind) => {
        listChanged(kind);
        user.listChanged(upstream, kind);
      },
      updated: (uri) => user.updated(upstream, uri),
      logged: (notification) => user.logged(upstream, notification),
      asked: (question) => user.asked(question),
      notified: (notification) => user.notified(notification),
      vendor: (notification) => user.vendor(upstream, notification),
      closed: (cause, again) => this.lost(use, cause, again),
    };
    const { session, principal, capabilities } = user;
    return openings.link({ session, principal, events, capabilities, signal: ending.signal });
  }

  private connected(use: Use, link: Link): Link {
    if (this.uses.get(use.user.session) !== use) {
      this.closing(link);
      throw new Fault('upstream_closed');
    }
    use.link = link;
    void this.tellLevel(use.user.session, link);
    this.watchIdle(use, link, this.deps.idle);
    return link;
  }

  /** An upstream that logs is told before any call that follows; what it says below the level is dropped all the same. */
  private async tellLevel(session: string, link: Link): Promise<void> {
    const level = this.levels.get(session);
    if (level === undefined) return;
    try {
      await link.setLevel(level);
    } catch (err) {
      this.deps.log.warn('set_level_failed', { session, err });
    }
  }

  private failed(use: Use, cause: unknown): never {
    use.link = undefined;
    if (!use.ending.signal.aborted) use.failures += 1;
    throw cause;
  }

  private lost(use: Use, cause: Error | undefined, again: boolean): void {
    const { session } = use.user;
    const { link } = use;
    if (this.uses.get(session) !== use || link === undefined || link instanceof Promise) return;
    use.link = undefined;
    if (again) this.deps.openings.forgotten(link);
    else this.closing(link);
    use.failures += 1;
    use.stopTimer();
    this.deps.log.warn('session_link_closed', { session, err: cause });
    use.user.linkClosed(this.deps.upstream);
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
    const { session } = use.user;
    if (this.uses.get(session) !== use) return;
    const link = await this.acquire(use.user);
    await restoreEach(link, [...use.uris], async (uri) => {
      if (use.link !== link) return;
      await link.subscribe(uri).catch((err: unknown) => this.deps.log.warn('resubscribe_failed', { session, err }));
      if (use.link === link) use.user.updated(this.deps.upstream, uri);
    });
  }

  private watchIdle(use: Use, link: Link, wait: number): void {
    const { clock, idle } = this.deps;
    use.stopTimer = clock.after(wait, () => {
      const left = use.usedAt + idle - clock.elapsed();
      if (!isIdle(use)) this.watchIdle(use, link, idle);
      else if (left > 0) this.watchIdle(use, link, left);
      else this.reap(use);
    });
  }

  private spares(): Spare[] {
    return [...this.uses.values()].filter(isIdle).map((use) => {
      const { principal } = use.user;
      return { principal, kind: 'own', since: use.usedAt, end: () => this.reap(use) };
    });
  }

  private reap(use: Use): void {
    this.end(use);
    use.user.linkClosed(this.deps.upstream);
  }

  private end(use: Use): void {
    use.stopTimer();
    use.ending.abort(new Error('the session has ended'));
    this.uses.delete(use.user.session);
    const { link } = use;
    if (link instanceof Promise) this.endings.add(link);
    else if (link !== undefined) this.closing(link);
  }

  private closing(link: Link): void {
    this.endings.add(this.deps.openings.close(link));
  }
}
