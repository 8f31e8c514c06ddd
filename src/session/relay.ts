import type { Clock } from '../ports/clock.ts';
import type { FrameKind } from '../ports/connection.ts';
import type { Link, Links, LinkUser, Relayed, Reply } from '../ports/link.ts';
import type { Outcome } from '../ports/meter.ts';
import { errorText } from '../protocol/compose.ts';
import {
  field,
  type Id,
  type Notification,
  numberField,
  progressToken,
  type Request,
  type Response,
} from '../protocol/envelope.ts';
import { Fault, faultError } from '../protocol/errors.ts';
import { rewriteNotification } from '../protocol/rewrite.ts';
import type { Unanswered } from './in-flight.ts';
import type { Target } from './target.ts';

export interface RelayDeps {
  readonly links: Links;
  readonly user: LinkUser;
  readonly clock: Clock;
  readonly send: (frame: string, kind: FrameKind) => void;
  /** The upstream's answer as the client's era spells it. */
  readonly answer: (response: Response, request: Request) => string;
  /** Once per call, before its answer is queued; false when the call is no longer under way and nothing must be sent. */
  readonly finish: (id: Id) => boolean;
  /** Once per call, whatever ended it. */
  readonly ended: (call: EndedCall) => void;
}

export interface EndedCall {
  readonly request: Request;
  readonly target: Target;
  readonly outcome: Outcome;
  /** Monotonic milliseconds from frame read to answer queued, and the part of it the upstream did not have. */
  readonly duration: number;
  readonly overhead: number | undefined;
  readonly cause: unknown;
}

/**
 * One data request on its way: acquires the owner's link, forwards the text, brings back progress and exactly one
 * answer. Cancelled, it says nothing more.
 */
export class RelayedCall implements Reply, Unanswered {
  private readonly deps: RelayDeps;
  private readonly request: Request;
  private readonly target: Target;
  private readonly token: Id | undefined;
  private readonly readAt: number;
  private relayed: Relayed | undefined;
  private progressed = Number.NEGATIVE_INFINITY;
  private retried = false;
  private done = false;

  constructor(request: Request, target: Target, readAt: number, deps: RelayDeps) {
    this.deps = deps;
    this.request = request;
    this.target = target;
    this.readAt = readAt;
    this.token = progressToken(request);
  }

  /** Sends it; synchronous where the link is up. */
  start(): void {
    const link = this.deps.links.acquire(this.target.upstream, this.deps.user);
    if (!(link instanceof Promise)) return this.forward(link);
    link.then(
      (ready) => this.forward(ready),
      (cause: unknown) => this.failed(asFault(cause), false),
    );
  }

  answered(response: Response, receivedAt: number): void {
    if (!this.claim()) return;
    this.deps.send(this.deps.answer(response, this.request), 'answer');
    const now = this.deps.clock.elapsed();
    const sentAt = this.relayed?.sentAt ?? this.readAt;
    this.report(outcomeOf(response), now, sentAt - this.readAt + (now - receivedAt));
  }

  progress(notification: Notification): void {
    const value = numberField(notification.text, notification.params, 'progress');
    if (
      this.done ||
      this.token === undefined ||
      value === undefined ||
      !Number.isFinite(value) ||
      value <= this.progressed
    )
      return;
    this.progressed = value;
    this.deps.send(rewriteNotification(notification, { progressToken: this.token }), 'progress');
  }

  failed(fault: Fault, again: boolean): void {
    if (this.done) return;
    if (again && !this.retried) {
      this.retried = true;
      return this.start();
    }
    if (!this.claim()) return;
    this.deps.send(errorText(this.request.id, faultError(fault)), 'answer');
    this.report(fault.reason === 'timeout' ? 'timeout' : 'failed', this.deps.clock.elapsed(), undefined, fault);
  }

  cancel(notification?: Notification): void {
    if (this.done) return;
    this.done = true;
    this.relayed?.cancel(notification);
    this.report('cancelled', this.deps.clock.elapsed());
  }

  private forward(link: Link): void {
    if (this.done) return;
    const { name, uri } = this.target;
    const judged = { ...(name === undefined ? {} : { name }), ...(uri === undefined ? {} : { uri }) };
    this.relayed = link.relay({ message: this.request, ...judged }, this);
  }

  private claim(): boolean {
    if (this.done) return false;
    this.done = true;
    return this.deps.finish(this.request.id);
  }

  private report(outcome: Outcome, now: number, overhead?: number, cause?: unknown): void {
    const { request, target, readAt } = this;
    this.deps.ended({ request, target, outcome, duration: now - readAt, overhead, cause });
  }
}

function outcomeOf(response: Response): Outcome {
  if (response.outcome === 'error') return 'error';
  const isError = field(response.payload.inner, 'isError');
  return isError !== undefined && response.text.startsWith('true', isError.start) ? 'tool_error' : 'ok';
}

function asFault(cause: unknown): Fault {
  return cause instanceof Fault ? cause : new Fault('internal', { cause });
}
