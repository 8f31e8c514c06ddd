import type { Cancel, Clock } from '../ports/clock.ts';
import type { Lease, Link, LinkEvents, LinkUser, Tenant } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { ListKind } from '../ports/meter.ts';
import { EVERY_CAPABILITY } from '../protocol/capabilities.ts';
import { Fault, METHOD_NOT_FOUND, type WireError } from '../protocol/errors.ts';
import { Endings } from './endings.ts';
import type { Openings } from './openings.ts';
import type { Spare } from './spares.ts';
import type { Users } from './users.ts';

export interface LeasedLinksDeps {
  readonly upstream: string;
  readonly openings: Openings;
  readonly users: Users;
  /** Milliseconds without a call after which a link is closed. */
  readonly idle: number;
  readonly clock: Clock;
  readonly log: Log;
  /** A leased link told of a change: the catalogue link has it too, or will. */
  readonly listChanged: (kind: ListKind) => void;
}

/** Links at once for the calls of one session. */
const PER_SESSION = 4;
const NOBODY: WireError = { code: METHOD_NOT_FOUND, message: 'Method not found' };

/** One link and the call it serves now, if any. */
interface Leased {
  readonly session: string;
  readonly principal: string;
  readonly ending: AbortController;
  link: Link | undefined;
  tenant: Tenant | undefined;
  /** Since when it serves none, in monotonic milliseconds. */
  idleSince: number;
  stopIdle: Cancel;
}

/**
 * Links that serve one call at a time, each of one session: a handshake upstream that asks something on such a link asks
 * it for that call, so its question can be put into the answer of a modern client's request.
 */
export class LeasedLinks {
  private readonly deps: LeasedLinksDeps;
  private readonly sessions = new Map<string, Set<Leased>>();
  /** Links on their way in or out. */
  private readonly endings = new Endings();

  constructor(deps: LeasedLinksDeps) {
    this.deps = deps;
    deps.openings.source(() => this.spares());
  }

  /** Rejects with a Fault: `at_capacity` when all this session's links serve a call. */
  async lease(user: LinkUser, tenant: Tenant): Promise<Lease> {
    if (!this.deps.users.admits(user)) throw new Fault('upstream_closed');
    const own = this.sessions.get(user.session) ?? new Set();
    const idle = [...own].find((leased) => leased.tenant === undefined);
    if (idle?.link !== undefined) return this.rent(idle, idle.link, tenant);
    if (own.size >= PER_SESSION) throw new Fault('at_capacity', { retryAfterMs: 1000 });
    const { session, principal } = user;
    const ending = new AbortController();
    const leased: Leased = { session, principal, ending, link: undefined, tenant, idleSince: 0, stopIdle: () => {} };
    this.sessions.set(session, own.add(leased));
    const link = await this.open(leased, user);
    return this.rent(leased, link, tenant);
  }

  /** Closes the session's links, also those still being opened. */
  release(session: string): void {
    for (const leased of this.sessions.get(session) ?? []) this.end(leased);
  }

  /** Resolves when nothing is left, also of links whose session was released before. */
  async close(): Promise<void> {
    for (const session of [...this.sessions.keys()]) this.release(session);
    await this.endings.over();
  }

  private async open(leased: Leased, user: LinkUser): Promise<Link> {
    const { openings } = this.deps;
    try {
      const { session, principal, ending } = leased;
      const wanted = {
        session,
        principal,
        events: this.events(leased, user),
        capabilities: EVERY_CAPABILITY,
        signal: ending.signal,
      };
      const opening = openings.link(wanted);
      this.endings.add(opening);
      const link = await opening;
      if (!ending.signal.aborted) {
        leased.link = link;
        return link;
      }
      this.closing(link);
      throw new Fault('upstream_closed');
    } catch (cause) {
      this.forget(leased);
      throw cause;
    }
  }

  private events(leased: Leased, user: LinkUser): LinkEvents {
    const { upstream, listChanged } = this.deps;
    return {
      listChanged,
      updated: () => {},
      logged: (notification) => leased.tenant?.logged(notification),
      asked: (question) => {
        if (leased.tenant !== undefined) return leased.tenant.asked(question);
        question.refuse(NOBODY);
        return () => {};
      },
      vendor: (notification) => user.vendor(upstream, notification),
      closed: (cause, again) => this.lost(leased, cause, again),
    };
  }

  private rent(leased: Leased, link: Link, tenant: Tenant): Lease {
    leased.stopIdle();
    leased.tenant = tenant;
    let isRented = true;
    return {
      link,
      release: (clean) => {
        if (isRented) this.vacate(leased, clean);
        isRented = false;
      },
    };
  }

  /** What a call left unfinished could ask the next one's client: only a link whose call was answered is used again. */
  private vacate(leased: Leased, clean: boolean): void {
    leased.tenant = undefined;
    if (!clean) return this.end(leased);
    leased.idleSince = this.deps.clock.elapsed();
    leased.stopIdle = this.deps.clock.after(this.deps.idle, () => this.end(leased));
  }

  private end(leased: Leased): void {
    leased.ending.abort(new Error('the session has ended'));
    const link = this.left(leased);
    if (link !== undefined) this.closing(link);
  }

  private spares(): Spare[] {
    const now = this.deps.clock.elapsed();
    return [...this.sessions.values()].flatMap((own) => [...own].flatMap((leased) => this.spareOf(leased, now)));
  }

  private spareOf(leased: Leased, now: number): Spare[] {
    const { principal, tenant, idleSince } = leased;
    if (tenant === undefined) return [{ principal, kind: 'leased', since: idleSince, end: () => this.end(leased) }];
    const { waited } = tenant;
    return waited < 0 ? [] : [{ principal, kind: 'parked', since: now - waited, end: () => tenant.displace() }];
  }

  /** Not by us: a link that was ended is none of ours any more. */
  private lost(leased: Leased, cause: Error | undefined, again: boolean): void {
    if (leased.ending.signal.aborted) return;
    this.deps.log.warn('session_link_closed', { session: leased.session, err: cause });
    const link = this.left(leased);
    if (link === undefined) return;
    if (again) this.deps.openings.forgotten(link);
    else this.closing(link);
  }

  private left(leased: Leased): Link | undefined {
    const { link } = leased;
    leased.link = undefined;
    this.forget(leased);
    return link;
  }

  private forget(leased: Leased): void {
    leased.stopIdle();
    const own = this.sessions.get(leased.session);
    own?.delete(leased);
    if (own?.size === 0) this.sessions.delete(leased.session);
  }

  private closing(link: Link): void {
    this.endings.add(this.deps.openings.close(link));
  }
}
