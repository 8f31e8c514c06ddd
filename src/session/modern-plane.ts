import type { Clock } from '../ports/clock.ts';
import type { FrameKind } from '../ports/connection.ts';
import type { Log } from '../ports/log.ts';
import type { ListKind } from '../ports/meter.ts';
import { decoded, field, type Id, type Notification, type Request } from '../protocol/envelope.ts';
import type { Announcement, Asked } from './control-plane.ts';
import { KeptSubscriptions } from './kept-subscriptions.ts';
import { Listens } from './listens.ts';
import type { ModernAdapter, WireMessage } from './modern-adapter.ts';
import { innerSubscription, isObject, listenOver, stamped } from './modern-stamps.ts';
import type { Voice } from './news.ts';

export interface ModernPlaneDeps {
  readonly announcement: () => Announcement;
  readonly send: (frame: string, kind: FrameKind) => void;
  /** An answer to a request that was given, ready to be sent. */
  readonly answered: (request: Asked, frame: string, accepted: boolean) => void;
  /** Whether this client may subscribe to the resource. */
  readonly mayHear: (uri: string) => boolean;
  /** Resources it may subscribe to in all. */
  readonly maxResources: number;
  /** One at a time for each resource; rejections are of a kind KeptSubscriptions understands. */
  readonly subscribe: (uri: string) => Promise<void>;
  readonly unsubscribe: (uri: string) => Promise<void>;
  readonly clock: Clock;
  /** Whether a request under way there asks for log messages like this one. */
  readonly wantsLog: (upstream: string, notification: Notification) => boolean;
  readonly log: Log;
}

/** Times the resources it may subscribe to: those it no longer wants count until their last operation has ended. */
const LEAVING_FACTOR = 4;
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/**
 * What the gateway itself has to say to a modern client: its SDK 2.x session, loaded when there is first need of it, and
 * the translation between the client's ids and the integers that session sees.
 */
export class ModernPlane implements Voice {
  private readonly deps: ModernPlaneDeps;
  private readonly asked = new Map<number, Request>();
  private readonly listens = new Listens();
  private readonly kept: KeptSubscriptions;
  private adapter: Promise<ModernAdapter> | undefined;
  /** What that one announces, once it is there. */
  private announced = '';
  private last = 0;
  private closed = false;

  constructor(deps: ModernPlaneDeps) {
    this.deps = deps;
    const { subscribe, unsubscribe, maxResources, clock, log } = deps;
    this.kept = new KeptSubscriptions({
      subscribe,
      unsubscribe,
      late: (uri) => this.updated(uri),
      clock,
      jitter: Math.random(),
      maxWarnings: LEAVING_FACTOR * maxResources,
      log,
    });
  }

  /** Listens that are open: requests under way as far as limits go. */
  get openListens(): number {
    return this.listens.size;
  }

  /** True for the id of an open listen: it is in use for as long as that lasts. */
  listensAs(id: Id): boolean {
    return this.listens.has(id);
  }

  /** Returns the way to cancel the request: nothing is answered for it afterwards. */
  give(request: Request): () => void {
    const inner = this.take(request);
    this.tell((adapter) => adapter.request(inner, request.method, paramsOf(request)));
    return () => {
      if (this.asked.delete(inner)) this.tell((adapter) => adapter.cancel(inner));
    };
  }

  /** Opens a listen, without the resources this client may not read; they are subscribed to once it is acknowledged. */
  listen(request: Request): void {
    const inner = this.take(request);
    const { params, uris } = this.narrowed(paramsOf(request));
    this.listens.add(request.id, { inner, uris });
    this.tell((adapter) => {
      adapter.request(inner, request.method, params);
      for (const uri of uris) if (this.listens.wants(uri)) this.kept.want(uri);
    });
  }

  /** Ends an open listen at the client's wish; false where there is none. */
  unlisten(id: Id): boolean {
    const listen = this.listens.get(id);
    if (listen === undefined) return false;
    this.tell((adapter) => adapter.cancel(listen.inner));
    this.ended(id, listen.inner);
    return true;
  }

  /**
   * What the client may see has changed: a listen to a resource that it may hear of no more ends with its result, and where
   * another announcement is due, all do. True in that case: from now on the other is made.
   */
  revoke(): boolean {
    const isOther = this.announced !== '' && this.announced !== JSON.stringify(this.deps.announcement());
    for (const [id, { inner, uris }] of this.listens) {
      if (isOther || !uris.every((uri) => this.deps.mayHear(uri)))
        this.tell((adapter) => this.finish(adapter, id, inner));
    }
    if (isOther) this.renew();
    return isOther;
  }

  listChanged(kind: ListKind): void {
    this.tell((adapter) => this.attempt(adapter.listChanged(kind)));
  }

  updated(uri: string): void {
    this.tell((adapter) => this.attempt(adapter.updated(uri)));
  }

  logged(upstream: string, notification: Notification): void {
    if (this.deps.wantsLog(upstream, notification)) this.deps.send(notification.text, 'log');
  }

  /** Open listens end with their result; resolves when those are sent. Nothing is subscribed to any more. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.kept.close();
    await (await this.adapter)?.close();
    this.asked.clear();
  }

  private take(request: Request): number {
    this.last += 1;
    this.asked.set(this.last, request);
    return this.last;
  }

  /** In the order of the calls, also while the SDK is being loaded. */
  private tell(say: (adapter: ModernAdapter) => void): void {
    if (this.closed) return;
    this.adapter ??= this.load();
    this.adapter.then(say).catch((err: unknown) => this.deps.log.error('modern_session_failed', { err }));
  }

  private async load(): Promise<ModernAdapter> {
    const { ModernAdapter: Adapter } = await import('./modern-adapter.ts');
    const failed = (err: Error) => this.deps.log.debug('modern_session', { err });
    const announcement = this.deps.announcement();
    this.announced = JSON.stringify(announcement);
    return new Adapter(announcement, (message) => this.said(message), failed);
  }

  private said(message: WireMessage): void {
    if ('method' in message) return this.notified(message);
    const inner = 'id' in message ? Number(message.id) : Number.NaN;
    const asked = this.asked.get(inner);
    if (asked === undefined) return;
    const { id } = asked;
    const frame = JSON.stringify({
      ...message,
      id,
      ...('result' in message ? { result: stamped(message.result, id) } : {}),
    });
    if (this.listens.has(id)) {
      this.ended(id, inner);
      this.deps.send(frame, 'answer');
    } else {
      this.asked.delete(inner);
      this.deps.answered(asked, frame, 'result' in message);
    }
  }

  private notified(message: WireMessage & { method: string }): void {
    const params = 'params' in message ? message.params : undefined;
    const id = this.asked.get(innerSubscription(params))?.id;
    if (id === undefined) return;
    const kind = message.method.endsWith('/list_changed') ? 'list_changed' : 'update';
    this.deps.send(
      JSON.stringify({ ...message, params: stamped(params, id) }),
      message.method === ACKNOWLEDGED ? 'answer' : kind,
    );
  }

  private finish(adapter: ModernAdapter, id: Id, inner: number): void {
    if (this.listens.get(id)?.inner !== inner) return;
    adapter.cancel(inner);
    this.ended(id, inner);
    this.deps.send(listenOver(id), 'answer');
  }

  /** What the old session has not answered is asked of the next; what it says of that all the same is not heard twice. */
  private renew(): void {
    this.adapter
      ?.then((adapter) => adapter.close())
      .catch((err: unknown) => this.deps.log.debug('modern_session', { err }));
    this.adapter = undefined;
    for (const [inner, request] of this.asked) {
      if (!this.listens.has(request.id))
        this.tell((adapter) => adapter.request(inner, request.method, paramsOf(request)));
    }
  }

  private ended(id: Id, inner: number): void {
    this.asked.delete(inner);
    for (const uri of this.listens.remove(id)) this.kept.drop(uri);
  }

  private narrowed(params: unknown): { params: unknown; uris: string[] } {
    const filter = isObject(params) && isObject(params.notifications) ? params.notifications : undefined;
    const asked = filter?.resourceSubscriptions;
    if (!isObject(params) || !Array.isArray(asked) || !asked.every((uri) => typeof uri === 'string'))
      return { params, uris: [] };
    const uris = this.withRoom([...new Set(asked)].filter((uri) => this.deps.mayHear(uri)));
    return { params: { ...params, notifications: { ...filter, resourceSubscriptions: uris } }, uris };
  }

  /** Those that are wanted already, and as many others as there is room for. */
  private withRoom(uris: readonly string[]): string[] {
    const { maxResources } = this.deps;
    let wanted = this.listens.wantedSize;
    let leaving = this.kept.leaving;
    return uris.filter((uri) => {
      if (this.listens.wants(uri)) return true;
      const left = leaving - (this.kept.isLeaving(uri) ? 1 : 0);
      if (wanted >= maxResources || wanted + left >= LEAVING_FACTOR * maxResources) return false;
      wanted += 1;
      leaving = left;
      return true;
    });
  }

  private attempt(work: Promise<void>): void {
    work.catch((err: unknown) => this.deps.log.warn('listen_failed', { err }));
  }
}

function paramsOf(request: Request): unknown {
  const params = field(request.root, 'params');
  return params === undefined ? undefined : decoded(request.text, params);
}
