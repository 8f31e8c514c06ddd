import type { FrameKind } from '../ports/connection.ts';
import { errorText, resultText } from '../protocol/compose.ts';
import type { Request } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { Fault, faultError, type WireError } from '../protocol/errors.ts';
import type { Route } from './admit.ts';
import type { Authority } from './authority.ts';
import type { Calls } from './calls.ts';
import type { Client } from './client.ts';
import type { Gateway } from './context.ts';
import type { Asked } from './control-plane.ts';
import { DIALECTS, type Dialect } from './dialect.ts';
import type { Ending } from './ending.ts';
import type { InFlight } from './in-flight.ts';
import { type Admitted, judge } from './judge.ts';
import { listPage } from './lists.ts';
import type { Opening } from './opening.ts';
import type { Planes } from './planes.ts';
import type { Refresh } from './refresh.ts';
import type { Toll } from './toll.ts';

export interface RequestsDeps {
  readonly authority: Authority;
  readonly gateway: Gateway;
  readonly client: Client;
  readonly planes: Planes;
  readonly calls: Calls;
  readonly opening: Opening;
  readonly inFlight: InFlight;
  readonly ending: Ending;
  readonly refresh: Refresh;
  readonly toll: Toll;
  readonly send: (frame: string, kind: FrameKind) => void;
}

/** The requests of one client: which are let in where the session stands, and which part of the gateway answers each. */
export class Requests {
  private readonly deps: RequestsDeps;
  private era: Era | undefined;

  constructor(deps: RequestsDeps) {
    this.deps = deps;
  }

  take(request: Request, readAt: number): void {
    const { authority, gateway, inFlight, planes, ending, toll, opening, calls } = this.deps;
    if (inFlight.has(request.id) || planes.listensAs(request.id)) return toll.malformed('id_in_flight', readAt);
    const limited = toll.request(readAt);
    if (limited !== undefined) {
      this.refuse(request, limited);
      return toll.refused('request', readAt);
    }
    const { refusesAll } = ending;
    if (refusesAll !== undefined) return this.refuse(request, refusesAll);
    const { phase } = opening;
    const { grants, isRenewable: refreshes } = authority;
    const verdict = judge(request, { era: this.era, phase, vendor: gateway.vendor, grants, refreshes });
    if ('refuse' in verdict) this.refuse(request, verdict.refuse);
    else if ('deny' in verdict) calls.deny(request, this.spokenEra, verdict.deny);
    else this.admitted(request, verdict, readAt);
  }

  /** What the gateway itself answers to a request that was given to one of its SDK sessions. */
  answered({ id, method }: Asked, frame: string, accepted: boolean): void {
    const { gateway, inFlight, ending, send } = this.deps;
    if (!inFlight.take(id)) return;
    gateway.recorder.answered(method, accepted ? 'ok' : 'error');
    send(frame, 'answer');
    if (method === 'initialize') this.opened(accepted);
    ending.whenIdle();
  }

  private admitted(request: Request, admitted: Admitted, readAt: number): void {
    const { route, taken } = admitted;
    const refusal = route === 'ping' || route === 'list' ? undefined : this.refusesWork(request, route);
    if (refusal !== undefined) this.refused(request, refusal);
    else if (taken.era === 'modern' && !this.deps.planes.hasModern) this.openModern(request, admitted, readAt);
    else this.route(request, admitted, readAt);
  }

  /** A client that is told to go elsewhere is not kept. */
  private refused(request: Request, refusal: WireError): void {
    const { ending } = this.deps;
    this.refuse(request, refusal);
    if (ending.refusesWork !== undefined) ending.drain();
  }

  /** A client with all its calls in flight can still bring a fresh token: at most one is judged at a time. */
  private refusesWork(request: Request, route: Route): WireError | undefined {
    const { ending, inFlight, planes, calls } = this.deps;
    if (ending.refusesWork !== undefined || route === 'refresh') return ending.refusesWork;
    const full = inFlight.isFull(planes.openListens + calls.parkedBeside(request));
    return full ? faultError(new Fault('too_many_in_flight', { retryAfterMs: 100 })) : undefined;
  }

  private route(request: Request, { route, taken }: Admitted, readAt: number): void {
    if (taken.era === 'modern' && taken.settles) this.settleModern(request);
    if (route === 'ping') this.answer(request, '{}');
    else if (route === 'list') this.list(request);
    else if (route === 'data') this.deps.calls.begin(request, this.spokenEra, readAt);
    else if (route === 'listen') this.deps.planes.listen(request);
    else if (route === 'initialize') this.initialize(request);
    else if (route === 'refresh') this.refresh(request);
    else this.ask(request);
  }

  private settleModern(request: Request): void {
    this.deps.client.notice.declaresIn(request);
    if (this.era !== undefined) return;
    this.era = 'modern';
    this.deps.planes.settleModern();
  }

  /** Under way before it is given: the SDK session may answer inside the call. */
  private ask(request: Request): void {
    let cancel = () => {};
    this.deps.inFlight.add(request.id, { cancel: () => cancel() });
    cancel = this.deps.planes.give(request);
  }

  private refresh(request: Request): void {
    this.deps.refresh.take(request, {
      answer: (result) => this.answer(request, result),
      refuse: (error) => this.refuse(request, error),
    });
  }

  private initialize(request: Request): void {
    const { planes, opening } = this.deps;
    planes.forgetModern();
    opening.begin(request.id, () => planes.initialize(request));
  }

  /** As `initialize` does, the first modern request waits for first answers; what comes after it waits too. */
  private openModern(request: Request, admitted: Admitted, readAt: number): void {
    const { planes, opening, inFlight, ending } = this.deps;
    opening.begin(request.id, () => {
      planes.openModern();
      if (inFlight.take(request.id)) this.begun(request, admitted, readAt);
      opening.end(this.era === 'modern');
      ending.whenIdle();
    });
  }

  /** It was under way before the gateway began to end, so it goes on; only a listen would not last. */
  private begun(request: Request, admitted: Admitted, readAt: number): void {
    const { ending } = this.deps;
    const refusal = ending.refusesAll ?? ending.refusesWork;
    if (admitted.route === 'listen' && refusal !== undefined) this.refuse(request, refusal);
    else this.route(request, admitted, readAt);
  }

  /** The answer to `initialize` is queued: what came after it is taken, in order, until another one is under way. */
  private opened(accepted: boolean): void {
    const { planes, ending, opening } = this.deps;
    if (accepted) this.era = 'handshake';
    else if (!planes.hadModern) ending.stillNew();
    opening.end(accepted);
  }

  private list(request: Request): void {
    const page = listPage(request, this.deps.client.view(), this.spokenEra);
    if ('refuse' in page) this.refuse(request, page.refuse);
    else this.answer(request, page.text);
  }

  private answer(request: Request, result: string): void {
    this.deps.gateway.recorder.answered(request.method, 'ok');
    this.deps.send(resultText(request.id, this.dialect.result(request.method, result)), 'answer');
  }

  private refuse(request: Request, error: WireError): void {
    this.deps.gateway.recorder.answered(request.method, 'error');
    this.deps.send(errorText(request.id, this.dialect.error(error)), 'answer');
  }

  private get dialect(): Dialect {
    return DIALECTS[this.spokenEra];
  }

  private get spokenEra(): Era {
    return this.era ?? 'handshake';
  }
}
