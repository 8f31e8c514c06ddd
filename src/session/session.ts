import type { Principal } from '../auth/principal.ts';
import type { Grants } from '../policy/access.ts';
import type { Cancel } from '../ports/clock.ts';
import type { Connection, FrameKind, FrameReceiver } from '../ports/connection.ts';
import { BATCH_VERSION, readFrame } from '../protocol/batch.ts';
import { errorText, resultText } from '../protocol/compose.ts';
import { idField, type Notification, type Request } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { Fault, faultError, UNREADABLE, type WireError } from '../protocol/errors.ts';
import { Batches } from './batch.ts';
import { Calls } from './calls.ts';
import { Client } from './client.ts';
import type { Gateway } from './context.ts';
import type { Asked } from './control-plane.ts';
import { DIALECTS, type Dialect } from './dialect.ts';
import { Ending } from './ending.ts';
import { InFlight } from './in-flight.ts';
import { type Admitted, judge } from './judge.ts';
import { startLife } from './life.ts';
import { listPage } from './lists.ts';
import { Opening, type Read } from './opening.ts';
import { Planes } from './planes.ts';

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
  private readonly planes: Planes;
  private readonly calls: Calls;
  private readonly stopLife: Cancel;
  private readonly ended: () => void;
  private readonly opening: Opening;
  private isClosed = false;
  private era: Era | undefined;

  constructor(id: string, principal: Principal, connection: Connection, gateway: Gateway, ended: () => void) {
    this.session = id;
    this.principal = principal;
    this.gateway = gateway;
    this.connection = new Batches(connection, gateway.limits, {
      accepts: () => this.planes.protocolVersion === BATCH_VERSION,
      take: (read) => this.take(read),
    });
    this.ended = ended;
    this.grants = gateway.grants(principal);
    this.inFlight = new InFlight(gateway.limits.inFlight);
    const { inFlight } = this;
    this.opening = new Opening({ session: id, connection, gateway, inFlight, take: (read) => this.take(read) });
    this.ending = new Ending(this.connection, this.inFlight);
    const send = (frame: string, kind: FrameKind) => this.send(frame, kind);
    this.client = new Client(id, { gateway, grants: this.grants, send });
    this.planes = new Planes({
      client: this.client,
      answered: (asked, frame, ok) => this.controlAnswered(asked, frame, ok),
      log: gateway.log,
    });
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
      unopened: () => this.ending.overdue(this.opening.phase === 'new' && !this.planes.hadModern),
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
      this.planes.close();
      this.client.close();
    } finally {
      this.ended();
    }
  }

  /** Takes no new requests and closes as soon as nothing is in flight. */
  drain(): void {
    if (this.planes.hasModern) void this.planes.leaveModern().then(() => this.ending.drain());
    else this.ending.drain();
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
    if (this.inFlight.has(request.id) || this.planes.listensAs(request.id))
      return this.send(errorText(null, UNREADABLE.id_in_flight), 'answer');
    const { refusesAll } = this.ending;
    if (refusesAll !== undefined) return this.refuse(request, refusesAll);
    const { phase } = this.opening;
    const verdict = judge(request, { era: this.era, phase, vendor: this.gateway.vendor, grants: this.grants });
    if ('refuse' in verdict) this.refuse(request, verdict.refuse);
    else if ('deny' in verdict) this.calls.deny(request, this.spokenEra, verdict.deny);
    else this.admitted(request, verdict, readAt);
  }

  private admitted(request: Request, admitted: Admitted, readAt: number): void {
    const { route, taken } = admitted;
    const refusal = route === 'ping' || route === 'list' ? undefined : this.refusesWork(request);
    if (refusal !== undefined) this.refuse(request, refusal);
    else if (taken.era === 'modern' && !this.planes.hasModern) this.openModern(request, admitted, readAt);
    else this.route(request, admitted, readAt);
  }

  private refusesWork(request: Request): WireError | undefined {
    if (this.ending.refusesWork !== undefined) return this.ending.refusesWork;
    const full = this.inFlight.isFull(this.planes.openListens + this.calls.parkedBeside(request));
    return full ? faultError(new Fault('too_many_in_flight', { retryAfterMs: 100 })) : undefined;
  }

  private route(request: Request, { route, taken }: Admitted, readAt: number): void {
    if (taken.era === 'modern' && taken.settles) this.settleModern();
    if (route === 'ping') this.answer(request, '{}');
    else if (route === 'list') this.list(request);
    else if (route === 'data') this.calls.begin(request, this.spokenEra, readAt);
    else if (route === 'listen') this.planes.listen(request);
    else if (route === 'initialize') this.initialize(request);
    else this.ask(request);
  }

  private settleModern(): void {
    if (this.era !== undefined) return;
    this.era = 'modern';
    this.planes.settleModern();
  }

  /** Under way before it is given: the SDK session may answer inside the call. */
  private ask(request: Request): void {
    let cancel = () => {};
    this.inFlight.add(request.id, { cancel: () => cancel() });
    cancel = this.planes.give(request);
  }

  private initialize(request: Request): void {
    this.planes.forgetModern();
    this.opening.begin(request.id, () => this.planes.initialize(request));
  }

  /** As `initialize` does, the first modern request waits for first answers; what comes after it waits too. */
  private openModern(request: Request, admitted: Admitted, readAt: number): void {
    this.opening.begin(request.id, () => {
      this.planes.openModern();
      if (this.inFlight.take(request.id)) this.begun(request, admitted, readAt);
      this.opening.end(this.era === 'modern');
      this.ending.whenIdle();
    });
  }

  /** It was under way before the gateway began to end, so it goes on; only a listen would not last. */
  private begun(request: Request, admitted: Admitted, readAt: number): void {
    const refusal = this.ending.refusesAll ?? this.ending.refusesWork;
    if (admitted.route === 'listen' && refusal !== undefined) this.refuse(request, refusal);
    else this.route(request, admitted, readAt);
  }

  private controlAnswered({ id, method }: Asked, frame: string, accepted: boolean): void {
    if (!this.inFlight.take(id)) return;
    this.gateway.recorder.answered(method, accepted ? 'ok' : 'error');
    this.send(frame, 'answer');
    if (method === 'initialize') this.opened(accepted);
    this.ending.whenIdle();
  }

  /** The answer to `initialize` is queued: what came after it is taken, in order, until another one is under way. */
  private opened(accepted: boolean): void {
    if (accepted) this.era = 'handshake';
    else if (!this.planes.hadModern) this.ending.stillNew();
    this.opening.end(accepted);
  }

  private list(request: Request): void {
    const page = listPage(request, this.client.view(), this.spokenEra);
    if ('refuse' in page) this.refuse(request, page.refuse);
    else this.answer(request, page.text);
  }

  private notification(notification: Notification): void {
    if (notification.method === 'notifications/cancelled') {
      const id = idField(notification.text, notification.params, 'requestId');
      if (id === undefined || this.planes.unlisten(id)) return;
      this.connection.cancelled(id);
      if (this.inFlight.cancel(id, notification)) this.ending.whenIdle();
    } else if (notification.method === 'notifications/initialized' && this.opening.phase === 'ready') {
      if (this.client.initialized()) this.planes.initialized();
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

  private send(frame: string, kind: FrameKind): void {
    if (!this.isClosed) this.connection.send(frame, kind);
  }
}
