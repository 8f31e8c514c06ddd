import { principalKey } from '../auth/principal.ts';
import type { Snapshot } from '../catalogue/snapshot.ts';
import { type View, viewOf } from '../catalogue/view.ts';
import type { FrameKind } from '../ports/connection.ts';
import type { Link, LinkUser, Question, Withdraw } from '../ports/link.ts';
import type { ListKind } from '../ports/meter.ts';
import { type ClientCapabilities, carriedCapabilities, NO_CAPABILITIES } from '../protocol/capabilities.ts';
import { decoded, field, type Notification, type Request, type Response } from '../protocol/envelope.ts';
import { carriedExtensions } from '../protocol/extensions.ts';
import { isModest } from '../protocol/modest.ts';
import { rewriteNotification } from '../protocol/rewrite.ts';
import { TOKEN_EXTENSION } from '../protocol/token-extension.ts';
import type { Authority } from './authority.ts';
import type { Gateway } from './context.ts';
import type { Announcement, Answered } from './control-plane.ts';
import { ExpiryNotice } from './expiry-notice.ts';
import { ModernPlane } from './modern-plane.ts';
import { News } from './news.ts';
import { Overlays } from './overlays.ts';
import { Questions } from './questions.ts';
import { RequestLevels } from './request-levels.ts';
import { Subscriptions } from './subscriptions.ts';
import { ownedResource } from './target.ts';

export interface ClientDeps {
  readonly gateway: Gateway;
  readonly authority: Authority;
  readonly send: (frame: string, kind: FrameKind) => void;
  /** Something of the client's has been handed to this link. */
  readonly wrote: (link: Link) => void;
}

/** The client of one session as upstreams and the fan-out know it: what it declared, subscribed to, is told and is asked. */
export class Client implements LinkUser {
  readonly session: string;
  readonly principal: string;
  readonly subscriptions: Subscriptions;
  /** Of a client that names a log level with each request. */
  readonly levels: RequestLevels;
  readonly notice: ExpiryNotice;
  private readonly deps: ClientDeps;
  private readonly overlays: Overlays;
  private readonly news: News;
  private readonly questions: Questions;
  private declared: ClientCapabilities = NO_CAPABILITIES;

  constructor(deps: ClientDeps) {
    this.session = deps.authority.session;
    this.principal = principalKey(deps.authority.principal);
    this.deps = deps;
    this.overlays = new Overlays(deps.gateway, this, (kind) => this.listMayHaveChanged(kind));
    this.subscriptions = new Subscriptions(this, deps.gateway, deps.authority, () => this.snapshot());
    this.news = new News({
      send: deps.send,
      view: () => this.view(),
      subscriptions: this.subscriptions,
      clock: deps.gateway.clock,
      coalesceMs: deps.gateway.limits.listChangeCoalesce,
    });
    this.questions = new Questions(deps.send);
    this.levels = new RequestLevels(deps.gateway.log, this.session);
    this.notice = new ExpiryNotice({ ...deps, clock: deps.gateway.clock });
  }

  /** The catalogue with what this session's own links list. */
  snapshot(): Snapshot {
    return this.overlays.snapshot();
  }

  view(): View {
    return viewOf(this.snapshot(), this.deps.authority.grants);
  }

  get capabilities(): ClientCapabilities {
    return this.declared;
  }

  /** Reads what the `initialize` request declares and says what it is to be answered with. */
  opening(request: Request): Announcement {
    const member = field(request.params, 'capabilities');
    const isRead = member !== undefined && isModest(request.text, member);
    const declared = isRead ? decoded(request.text, member) : undefined;
    this.declared = carriedCapabilities(declared);
    this.notice.declares(declared);
    const { dropped } = carriedExtensions(declared);
    if (dropped > 0) this.deps.gateway.log.info('capabilities_dropped', { session: this.session, count: dropped });
    this.news.announced(this.view());
    return this.announcement();
  }

  /** A client of the modern era declares itself in every request. Until `settleModern` it is told nothing. */
  openModern(answered: Answered): ModernPlane {
    const { gateway, authority, send } = this.deps;
    const plane = new ModernPlane({
      announcement: () => this.announcement(),
      wantsLog: (upstream, notification) => this.levels.wants(upstream, notification),
      send,
      answered,
      mayHear: (uri) => !('error' in ownedResource(uri, { snapshot: this.snapshot(), grants: authority.grants })),
      maxResources: gateway.limits.subscriptions,
      subscribe: (uri) => this.subscriptions.keep(uri),
      unsubscribe: (uri) => this.subscriptions.leave(uri),
      clock: gateway.clock,
      log: gateway.log.child({ session: this.session }),
    });
    this.declared = NO_CAPABILITIES;
    this.announced();
    return plane;
  }

  /** A client that reads the capabilities of now counts on being told of what they announce. */
  announced(): void {
    this.news.announced(this.view());
  }

  /** From now on the client is told what it listens to. */
  settleModern(plane: ModernPlane): void {
    this.news.speakThrough(plane);
    this.news.initialized();
  }

  /** False if it had said so before. */
  initialized(): boolean {
    this.notice.open();
    return this.news.initialized();
  }

  /** A list changed somewhere; tells the client, once, if its own view of that kind did. */
  listMayHaveChanged(kind: ListKind): boolean {
    return this.news.listMayHaveChanged(kind);
  }

  updated(upstream: string, uri: string): void {
    this.news.updated(upstream, uri);
  }

  subscribed(): Iterable<{ readonly upstream: string; readonly uri: string }> {
    return this.subscriptions.all();
  }

  logged(upstream: string, notification: Notification): void {
    this.news.logged(upstream, notification);
  }

  listChanged(upstream: string, kind: ListKind): void {
    this.overlays.listChanged(upstream, kind);
  }

  linkClosed(upstream: string): void {
    this.overlays.linkClosed(upstream);
  }

  wrote(link: Link): void {
    this.deps.wrote(link);
  }

  asked(question: Question): Withdraw {
    return this.questions.ask(question, this.declared);
  }

  notified(notification: Notification): void {
    this.deps.send(notification.text, 'update');
  }

  vendor(upstream: string, notification: Notification): void {
    const { gateway, authority, send } = this.deps;
    if (!gateway.vendor.passes(upstream, notification.method, authority.grants)) return;
    send(rewriteNotification(notification, {}), 'update');
  }

  /** What the client answers to a question. One nobody waits for is ignored and counted. */
  answered(response: Response): void {
    if (this.questions.answered(response)) return;
    const kind = this.questions.wasAsked(response.id) ? 'late' : 'unknown';
    this.deps.gateway.meter.counter('unexpected_answers_total', { source: 'client', kind }).add();
  }

  /** What the client says of its own accord, to whom it concerns. */
  said(notification: Notification): void {
    const { method, text } = notification;
    if (method === 'notifications/progress') this.questions.progress(notification);
    else if (method === 'notifications/roots/list_changed' && this.declared.roots !== undefined) {
      this.deps.gateway.links.notify(text, this);
    } else this.toVendor(notification);
  }

  /** What its principal's view has, and what the gateway itself has for it. */
  private announcement(): Announcement {
    const { capabilities, instructions } = this.view();
    if (!this.deps.authority.isRenewable) return { capabilities, instructions };
    const extensions = { ...capabilities.extensions, [TOKEN_EXTENSION]: {} };
    return { capabilities: { ...capabilities, extensions }, instructions };
  }

  /** To the upstream that serves it, where this client has a link to it; lost elsewhere, as notifications are. */
  private toVendor(notification: Notification): void {
    const { gateway, authority } = this.deps;
    const upstream = gateway.vendor.ownerOf(notification.method);
    if (upstream === undefined || !gateway.vendor.passes(upstream, notification.method, authority.grants)) return;
    gateway.links.notify(rewriteNotification(notification, {}), this, upstream);
  }

  /** Leaves the upstreams of which nothing is in view, but for those with calls or subscriptions that may go on. */
  leaveHidden(busy: ReadonlySet<string>): void {
    const used = new Set([...this.view().upstreams, ...busy, ...this.subscriptions.upstreams()]);
    const hidden = this.snapshot().members.filter(({ key }) => !used.has(key));
    for (const { key } of hidden) {
      this.deps.gateway.links.leave(key, this.session);
      this.overlays.linkClosed(key);
    }
  }

  close(): void {
    this.overlays.close();
    this.news.close();
    this.subscriptions.close();
    this.deps.gateway.links.release(this.session);
  }
}
