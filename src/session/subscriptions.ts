import type { Snapshot } from '../catalogue/snapshot.ts';
import type { LinkUser } from '../ports/link.ts';
import type { Notification } from '../protocol/envelope.ts';
import { AnsweredError, Fault, faultError, type WireError } from '../protocol/errors.ts';
import { isLogLevel, type LogLevel, reaches } from '../protocol/log-level.ts';
import type { Authority } from './authority.ts';
import type { Gateway } from './context.ts';
import type { ControlHandlers } from './handshake-adapter.ts';
import { ownedResource, type Refusal, type Target } from './target.ts';
import { Turns } from './turns.ts';

/** What this session has asked to hear: resources by URI on their owner's link, log messages from a level up. */
export class Subscriptions implements ControlHandlers {
  private readonly user: LinkUser;
  private readonly gateway: Gateway;
  private readonly authority: Authority;
  private readonly snapshot: () => Snapshot;
  private readonly owners = new Map<string, string>();
  private level: LogLevel = 'debug';
  private closed = false;
  private readonly turns: Turns;

  constructor(user: LinkUser, gateway: Gateway, authority: Authority, snapshot: () => Snapshot) {
    this.user = user;
    this.gateway = gateway;
    this.authority = authority;
    this.snapshot = snapshot;
    this.turns = new Turns(2 * gateway.limits.subscriptions, () => wireFailure(new Fault('at_capacity')));
  }

  has(upstream: string, uri: string): boolean {
    return this.owners.get(uri) === upstream;
  }

  /** Whoever owns it. */
  hasAny(uri: string): boolean {
    return this.owners.has(uri);
  }

  /** What is subscribed to now, with its owner. */
  *all(): Iterable<{ readonly upstream: string; readonly uri: string }> {
    for (const [uri, upstream] of this.owners) yield { upstream, uri };
  }

  wantsLog(notification: Notification): boolean {
    return reaches(this.level, notification);
  }

  async setLevel(level: string): Promise<void> {
    if (isLogLevel(level)) this.level = level;
    if (!this.closed) await this.gateway.links.setLevel(level, this.user);
  }

  subscribe(uri: string, signal?: AbortSignal): Promise<void> {
    return this.turns.take(uri, () => this.begin(uri, signal));
  }

  /**
   * For a modern client, whose listens bound what it wants and take turns for each URI: rejects with a Fault, also while
   * nobody has the resource, or with the AnsweredError of its owner.
   */
  async keep(uri: string): Promise<void> {
    if (this.closed || this.owners.has(uri)) return;
    const found = this.ownerOf(uri);
    if ('error' in found) throw new Fault('upstream_unavailable');
    await this.open(uri, found.upstream);
  }

  /** The end of what was kept. Where its link is gone there is nothing to end. */
  async leave(uri: string): Promise<void> {
    const upstream = this.owners.get(uri);
    if (upstream === undefined) return;
    this.owners.delete(uri);
    try {
      await this.gateway.links.unsubscribe(upstream, uri, this.user);
    } catch (cause) {
      if (!isLost(cause)) throw cause;
    }
  }

  unsubscribe(uri: string): Promise<void> {
    return this.turns.take(uri, () => this.end(uri));
  }

  /** What a handshake client may hear of no more is heard no more, from now on; its owner learns it in turn. */
  revoke(): void {
    for (const [uri, upstream] of this.owners) {
      if (this.mayHear(uri, upstream)) continue;
      this.owners.delete(uri);
      const end = () => this.gateway.links.unsubscribe(upstream, uri, this.user);
      const failed = (err: unknown) =>
        this.gateway.log.debug('unsubscribe_failed', { session: this.user.session, err });
      this.turns.takeAnyway(uri, end).catch(failed);
    }
  }

  /** The owners of what is heard and may be. */
  upstreams(): string[] {
    return [...this.owners].flatMap(([uri, upstream]) => (this.mayHear(uri, upstream) ? [upstream] : []));
  }

  close(): void {
    this.closed = true;
    this.owners.clear();
  }

  private async begin(uri: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.closed) return;
    const found = this.ownerOf(uri);
    if ('error' in found) throw new WireFailure(found.error);
    if (this.owners.has(uri)) return;
    if (this.owners.size >= this.gateway.limits.subscriptions) throw wireFailure(new Fault('at_capacity'));
    const failure = await this.open(uri, found.upstream).then(() => undefined, wireFailure);
    // Out of view meanwhile it is answered as if it came now, whatever became of it.
    const now = this.owners.has(uri) ? found : this.ownerOf(uri);
    if ('error' in now) throw new WireFailure(now.error);
    if (failure !== undefined) throw failure;
    if (!this.closed && signal?.aborted === true) await this.end(uri);
  }

  private end(uri: string): Promise<void> {
    return asWireFailure(this.leave(uri));
  }

  private ownerOf(uri: string): Target | Refusal {
    return ownedResource(uri, { snapshot: this.snapshot(), grants: this.authority.grants });
  }

  private mayHear(uri: string, upstream: string): boolean {
    return this.authority.grants.decide({ kind: 'resources', upstream, name: uri }).effect === 'allow';
  }

  private async open(uri: string, upstream: string): Promise<void> {
    this.owners.set(uri, upstream);
    try {
      await this.gateway.links.subscribe(upstream, uri, this.user);
    } catch (cause) {
      this.owners.delete(uri);
      throw cause;
    }
    if (this.closed) this.gateway.links.release(this.user.session);
  }
}

/** An error object on its way to the wire through the SDK session, which copies `code`, `message` and `data`. */
class WireFailure extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(error: WireError) {
    super(error.message);
    this.code = error.code;
    this.data = error.data;
  }
}

function asWireFailure(work: Promise<void>): Promise<void> {
  return work.catch((cause: unknown) => {
    throw wireFailure(cause);
  });
}

function wireFailure(cause: unknown): WireFailure {
  if (cause instanceof AnsweredError) return new WireFailure(cause.error);
  return new WireFailure(faultError(cause instanceof Fault ? cause : new Fault('internal', { cause })));
}

/** With its link a subscription is gone too: nothing is left to end. */
function isLost(cause: unknown): boolean {
  return cause instanceof Fault && (cause.reason === 'upstream_closed' || cause.reason === 'upstream_unavailable');
}
