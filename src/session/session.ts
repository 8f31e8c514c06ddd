import type { Principal } from '../auth/principal.ts';
import type { View } from '../catalogue/view.ts';
import type { Grants } from '../policy/access.ts';
import type { Cancel } from '../ports/clock.ts';
import type { Connection, FrameKind, FrameReceiver } from '../ports/connection.ts';
import { BATCH_VERSION, readFrame } from '../protocol/batch.ts';
import { errorText, resultText } from '../protocol/compose.ts';
import { idField, type Notification, type Request } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { Fault, faultError, UNREADABLE, type WireError } from '../protocol/errors.ts';
import { admit, admitModern, NOT_FOUND, type Route } from './admit.ts';
import { Batches } from './batch.ts';
import { Calls } from './calls.ts';
import { Client } from './client.ts';
import type { Gateway } from './context.ts';
import { type Asked, ControlPlane } from './control-plane.ts';
import { DIALECTS, type Dialect } from './dialect.ts';
import { Ending } from './ending.ts';
import { chooseEra } from './era.ts';
import { InFlight } from './in-flight.ts';
import { startLife } from './life.ts';
import { listPage } from './lists.ts';
import type { ModernPlane } from './modern-plane.ts';
import { Opening, type Read } from './opening.ts';
import { vendorTarget } from './target.ts';

/** One connection's MCP state: what a frame means now, and who answers it. Everything it opens ends in `closed`. */
export class Session implements FrameReceiver {
  readonly session: string;
  readonly principal: Principal;
  readonly client: Client;
  private readonly gateway: Gateway;
  private readonly connection: Batches;
  private readonly grants: Grants;
  private readonly inFlight: InFlight;
  private readonly ending: Ending;
  private readonly control: ControlPlane;
  private readonly calls: Calls;
  private readonly stopLife: Cancel;
  private readonly ended: () => void;
  private readonly opening: Opening;
  private isClosed = false;
  private era: Era | undefined;
  private modern: ModernPlane | undefined;

  constructor(id: string, principal: Principal, connection: Connection, gateway: Gateway, ended: () => void) {
    this.session = id;
    this.principal = principal;
    this.gateway = gateway;
    this.connection = new Batches(connection, gateway.limits, {
      accepts: () => this.control.protocolVersion === BATCH_VERSION,
      take: (read) => this.take(read),
    });
    this.ended = ended;
    this.grants = gateway.grants(principal);
    this.opening = new Opening(connection, (read) => this.take(read));
    this.inFlight = new InFlight(gateway.limits.inFlight);
    this.ending = new Ending(this.connection, this.inFlight);
    const send = (frame: string, kind: FrameKind) => this.send(frame, kind);
    this.client = new Client(id, { gateway, grants: this.grants, send });
    this.control = new ControlPlane(this.client.subscriptions, (answered, frame, ok) =>
      this.controlAnswered(answered, frame, ok),
    );
    this.calls = new Calls({
      gateway,
      caller: this,
      grants: this.grants,
      client: this.client,
      send,
      add: (answered, call) => this.inFlight.add(answered, call),
      take: (answered) => this.inFlight.take(answered),
      idle: () => this.ending.whenIdle(),
    });
    this.stopLife = startLife(gateway.clock, gateway.limits, principal.expiresAt, {
      unopened: () => this.ending.overdue(this.opening.phase === 'new' && this.modern === undefined),
      expired: () => this.ending.expire(),
      graceOver: () => this.ending.graceOver(),
    });
  }

  frame(text: string): void {
    const readAt = this.gateway.clock.elapsed();
    const message = readFrame(text, this.gateway.limits.depth);
    this.take({ message, readAt });
  }

  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.opening.close();
    this.stopLife();
    try {
      this.inFlight.cancelAll();
      this.calls.close();
      this.control.close();
      void this.modern?.close();
      this.client.close();
    } finally {
      this.ended();
    }
  }

  /** Takes no new requests and closes as soon as nothing is in flight. */
  drain(): void {
    if (this.modern === undefined) this.ending.drain();
    else void this.modern.close().then(() => this.ending.drain());
  }

  /** Ends what is still in flight, then the socket. */
  drainOver(): void {
    this.ending.drainOver();
  }

  private take(read: Read): void {
    const { message, readAt } = read;
    if (this.isClosed || this.opening.holds(read)) return;
    if (message.kind === 'request') this.request(message, readAt);
    else if (message.kind === 'notification') this.notification(message);
    else if (message.kind === 'array') this.connection.take(message, readAt);
    else if (message.kind === 'unreadable') this.send(errorText(null, UNREADABLE[message.problem]), 'answer');
    else this.client.answered(message);
  }

  private request(request: Request, readAt: number): void {
    if (this.inFlight.has(request.id) || this.modern?.listensAs(request.id) === true)
      return this.send(errorText(null, UNREADABLE.id_in_flight), 'answer');
    const { refusesAll } = this.ending;
    if (refusesAll !== undefined) return this.refuse(request, refusesAll);
    const choice = chooseEra(request, this.era);
    if ('refuse' in choice) return this.refuse(request, choice.refuse);
    if (choice.settles) this.era ??= choice.era;
    if (choice.era === 'modern' && this.modern === undefined) return this.openModern({ message: request, readAt });
    const admission = choice.era === 'modern' ? admitModern(request) : admit(request, this.opening.phase);
    if ('refuse' in admission) this.unrouted(request, readAt, admission.refuse);
    else this.route(admission.route, request, readAt);
  }

  /** May be a vendor's method. Judged before any limit: whatever the session's state, a denied one looks like no method. */
  private unrouted(request: Request, readAt: number, error: WireError): void {
    const vendor = error === NOT_FOUND ? vendorTarget(request, this.gateway.vendor, this.grants) : undefined;
    if (vendor === undefined) this.refuse(request, error);
    else if ('error' in vendor) this.calls.deny(request, this.spokenEra, vendor);
    else this.route('data', request, readAt);
  }

  private route(route: Route, request: Request, readAt: number): void {
    if (route === 'ping') return this.answer(request, '{}');
    if (route === 'list') return this.list(request);
    const { refusesWork } = this.ending;
    if (refusesWork !== undefined) return this.refuse(request, refusesWork);
    if (this.inFlight.isFull((this.modern?.openListens ?? 0) + this.calls.parkedBeside(request)))
      return this.refuse(request, faultError(new Fault('too_many_in_flight', { retryAfterMs: 100 })));
    if (route === 'data') this.calls.begin(request, this.spokenEra, readAt);
    else if (route === 'listen') this.modern?.listen(request);
    else if (route === 'initialize') this.initialize(request);
    else this.ask(request);
  }

  /** Under way before it is given: the SDK session may answer inside the call. */
  private ask(request: Request): void {
    let cancel = () => {};
    this.inFlight.add(request.id, { cancel: () => cancel() });
    cancel = (this.modern ?? this.control).give(request);
  }

  private initialize(request: Request): void {
    this.opening.begin();
    this.inFlight.add(request.id, { cancel: null });
    const { gateway } = this;
    const opening = gateway.firstAnswers().then(async () => {
      if (!this.isClosed) await this.control.initialize(this.client.opening(request), request);
    });
    opening.catch((err: unknown) => {
      gateway.log.error('session_open_failed', { session: this.session, err });
      this.connection.close('internal');
    });
  }

  /** As `initialize` does, the first modern request waits for first answers; what comes after it waits too. */
  private openModern(first: Read): void {
    this.opening.begin(first);
    void this.gateway.firstAnswers().then(() => {
      if (this.isClosed) return;
      this.modern = this.client.openModern((asked, frame, ok) => this.controlAnswered(asked, frame, ok));
      this.opening.end(this.era === 'modern');
    });
  }

  private controlAnswered({ id, method }: Asked, frame: string, accepted: boolean): void {
    if (!this.inFlight.take(id)) return;
    this.gateway.recorder.answered(method, accepted ? 'ok' : 'error');
    this.send(frame, 'answer');
    if (this.opening.phase === 'initializing') this.opened(accepted);
    this.ending.whenIdle();
  }

  /** The answer to `initialize` is queued: what came after it is taken, in order, until another one is under way. */
  private opened(accepted: boolean): void {
    if (!accepted) this.ending.stillNew();
    this.opening.end(accepted);
  }

  private list(request: Request): void {
    const page = listPage(request, this.view(), this.spokenEra);
    if ('refuse' in page) this.refuse(request, page.refuse);
    else this.answer(request, page.text);
  }

  private notification(notification: Notification): void {
    if (notification.method === 'notifications/cancelled') {
      const id = idField(notification.text, notification.params, 'requestId');
      if (id === undefined || this.modern?.unlisten(id) === true) return;
      this.connection.cancelled(id);
      if (this.inFlight.cancel(id, notification)) this.ending.whenIdle();
    } else if (notification.method === 'notifications/initialized' && this.opening.phase === 'ready') {
      if (this.client.initialized()) this.control.initialized();
    } else this.client.said(notification);
  }

  private answer(request: Request, result: string): void {
    this.gateway.recorder.answered(request.method, 'ok');
    this.send(resultText(request.id, this.dialect.result(request.method, result)), 'answer');
  }

  private refuse(request: Request, error: WireError): void {
    this.gateway.recorder.answered(request.method, 'error');
    this.send(errorText(request.id, this.dialect.error(error)), 'answer');
  }

  private get dialect(): Dialect {
    return DIALECTS[this.spokenEra];
  }

  private get spokenEra(): Era {
    return this.era ?? 'handshake';
  }

  private view(): View {
    return this.client.view();
  }

  private send(frame: string, kind: FrameKind): void {
    if (!this.isClosed) this.connection.send(frame, kind);
  }
}
