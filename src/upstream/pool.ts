import type { Clock } from '../ports/clock.ts';
import type { Backlogs, Lease, Link, LinkEvents, Links, LinkUser, Tenant } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { ListKind, Meter } from '../ports/meter.ts';
import type { Dial } from '../ports/transport.ts';
import { EVERY_CAPABILITY, NO_CAPABILITIES } from '../protocol/capabilities.ts';
import { type Notification, stringField } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import type { BreakerLimits } from './breaker.ts';
import type { Children } from './children.ts';
import { Eras } from './eras.ts';
import { LeasedLinks } from './leased-links.ts';
import { openLink } from './link.ts';
import type { LinkOptions } from './link-options.ts';
import { askOnceMore } from './once-more.ts';
import { Openings } from './openings.ts';
import { OwnLinks } from './own-links.ts';
import { SessionLinks } from './session-links.ts';
import { SharedSubscriptions } from './shared-subscriptions.ts';
import { Supervisor } from './supervisor.ts';
import { Users } from './users.ts';

export interface UpstreamOptions extends Omit<LinkOptions, 'capabilities' | 'hearsLists'> {
  /** Undefined where it is found out. */
  readonly era: Era | undefined;
  readonly maxLinks: number;
  /** Caps on processes, one for all upstreams; undefined where a link is none. */
  readonly children: Children | undefined;
  readonly idle: number;
  readonly breaker: BreakerLimits;
  readonly dial: Dial;
}

export interface PoolDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly random: () => number;
  /** More waits for an upstream than is worth no thought. Called often. */
  readonly growing?: () => void;
}

/** What the catalogue side hears of the catalogue links. */
export interface PoolEvents {
  up(link: Link): void;
  down(upstream: string): void;
  listChanged(upstream: string, kind: ListKind): void;
  updated(upstream: string, uri: string): void;
}

interface Upstream {
  readonly eras: Eras;
  readonly supervisor: Supervisor;
  readonly shared: SharedSubscriptions;
  /** Absent where everybody uses the shared link. */
  readonly sessions: SessionLinks | undefined;
  readonly leases: LeasedLinks | undefined;
}

/** What tells the links of one upstream apart. */
type LinkKind = Pick<LinkOptions, 'isolation' | 'capabilities' | 'hearsLists'>;

/** All upstreams and every link to them. */
export class UpstreamPool implements Links {
  private readonly upstreams = new Map<string, Upstream>();
  private readonly users = new Users();
  private readonly ownLinks = new OwnLinks();

  constructor(upstreams: readonly UpstreamOptions[], deps: PoolDeps, events: PoolEvents) {
    const own = { ...deps, users: this.users, ownLinks: this.ownLinks };
    for (const options of upstreams) this.upstreams.set(options.upstream, makeUpstream(options, own, events));
  }

  start(): void {
    for (const { supervisor } of this.upstreams.values()) supervisor.start();
  }

  acquire(upstream: string, user: LinkUser): Link | Promise<Link> {
    const { sessions, supervisor } = this.of(upstream);
    return sessions === undefined ? supervisor.acquire() : sessions.acquire(user);
  }

  lends(upstream: string): boolean {
    const { leases, eras } = this.of(upstream);
    return leases !== undefined && eras.last === 'handshake';
  }

  async lease(upstream: string, user: LinkUser, tenant: Tenant): Promise<Lease> {
    const { leases, eras } = this.of(upstream);
    if (leases !== undefined && eras.last === 'handshake') return leases.lease(user, tenant);
    return { link: await this.acquire(upstream, user), release: () => {} };
  }

  async subscribe(upstream: string, uri: string, user: LinkUser): Promise<void> {
    const { sessions, supervisor, shared } = this.of(upstream);
    if (sessions !== undefined) return sessions.subscribe(uri, user);
    const source = { acquire: () => supervisor.acquire(), current: () => supervisor.link };
    return askOnceMore(source, (link) => shared.subscribe(link, uri, user.session));
  }

  async unsubscribe(upstream: string, uri: string, user: LinkUser): Promise<void> {
    const { sessions, supervisor, shared } = this.of(upstream);
    return sessions === undefined
      ? shared.unsubscribe(supervisor.link, uri, user.session)
      : sessions.unsubscribe(uri, user);
  }

  async setLevel(level: string, user: LinkUser): Promise<void> {
    await Promise.all([...this.upstreams.values()].map(({ sessions }) => sessions?.setLevel(level, user)));
  }

  notify(text: string, user: LinkUser, upstream?: string): void {
    const told = upstream === undefined ? [...this.upstreams.values()] : [this.upstreams.get(upstream)];
    for (const each of told) each?.sessions?.notify(text, user);
  }

  /** The link that holds this upstream's lists, if it is up. */
  catalogueLink(upstream: string): Link | undefined {
    return this.upstreams.get(upstream)?.supervisor.link;
  }

  pause(session: string): void {
    this.ownLinks.pause(session);
  }

  resume(session: string): void {
    this.ownLinks.resume(session);
  }

  /** Bytes that wait for upstreams to read them: on links everybody uses, and on those of each session. */
  backlogs(): Backlogs {
    let shared = 0;
    for (const { supervisor } of this.upstreams.values()) shared += supervisor.link?.backlog ?? 0;
    return { shared, own: this.ownLinks.backlogs() };
  }

  leave(upstream: string, session: string): void {
    const { sessions, leases, supervisor, shared } = this.of(upstream);
    sessions?.leave(session);
    leases?.release(session);
    shared.release(supervisor.link, session);
  }

  release(session: string): void {
    this.users.release(session);
    this.ownLinks.release(session);
    for (const { sessions, leases, supervisor, shared } of this.upstreams.values()) {
      sessions?.release(session);
      leases?.release(session);
      shared.release(supervisor.link, session);
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.upstreams.values()].flatMap((u) => [u.supervisor.close(), u.sessions?.close(), u.leases?.close()]),
    );
  }

  private of(upstream: string): Upstream {
    const found = this.upstreams.get(upstream);
    if (found === undefined) throw new Error(`no upstream ${upstream}`);
    return found;
  }
}

type OwnDeps = PoolDeps & { readonly users: Users; readonly ownLinks: OwnLinks };

function makeUpstream(options: UpstreamOptions, deps: OwnDeps, events: PoolEvents): Upstream {
  const { upstream, isolation, dial } = options;
  const own = { ...deps, log: deps.log.child({ upstream }) };
  const eras = new Eras({ startTimeout: options.startTimeout, fixed: options.era }, own);
  const linkDeps = { ...own, dial, distrust: () => eras.drop() };
  const open = (kind: LinkKind, linkEvents: LinkEvents, signal: AbortSignal, turn?: () => Promise<void>) =>
    eras.open((opening) => openLink({ ...options, ...kind }, linkDeps, linkEvents, opening), {
      signal,
      recheck: kind.hearsLists,
      turn,
    });
  const capabilities = isolation === 'shared' ? NO_CAPABILITIES : EVERY_CAPABILITY;
  const shared = new SharedSubscriptions(own.log);
  const links = (kind: 'session' | 'shared') => deps.meter.gauge('links', { upstream, isolation: kind });
  const supervisor = new Supervisor(
    {
      ...own,
      upstream,
      open: (linkEvents, signal) => open({ isolation: 'shared', capabilities, hearsLists: true }, linkEvents, signal),
    },
    {
      up: (link) => {
        links('shared').set(1);
        events.up(link);
        void shared.restore(link, (uri) => events.updated(upstream, uri));
      },
      down: () => {
        links('shared').set(0);
        events.down(upstream);
      },
      listChanged: (kind) => events.listChanged(upstream, kind),
      updated: (uri) => isolation === 'shared' && events.updated(upstream, uri),
      logged: (notification) => logUpstream(own.log, notification),
    },
  );
  if (isolation === 'shared') return { eras, supervisor, shared, sessions: undefined, leases: undefined };
  const openings = new Openings({
    ...options,
    ...own,
    links: links('session'),
    open: (wanted, turn) => {
      const kind = { isolation, capabilities: wanted.capabilities, hearsLists: false };
      return deps.ownLinks.open(wanted, (heard) => open(kind, heard, wanted.signal, turn));
    },
  });
  const common = { ...options, ...own, openings, listChanged: (kind: ListKind) => events.listChanged(upstream, kind) };
  return { eras, supervisor, shared, sessions: new SessionLinks(common), leases: new LeasedLinks(common) };
}

/** A shared link's log messages go to the gateway's log, never to callers: nobody knows whose call they are about. */
function logUpstream(log: Log, { text, params }: Notification): void {
  log.debug('upstream_log', { level: stringField(text, params, 'level'), bytes: text.length });
}
