import type { Clock } from '../ports/clock.ts';
import type { FrameKind } from '../ports/connection.ts';
import type { Link } from '../ports/link.ts';
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
import { type Fault, faultError, type WireError } from '../protocol/errors.ts';
import { rewriteNotification } from '../protocol/rewrite.ts';
import type { Target } from './target.ts';

export interface TurnDeps {
  readonly clock: Clock;
  readonly send: (frame: string, kind: FrameKind, from?: 'shared') => void;
  /** Before the answer is queued; false when the request is no longer under way and nothing must be sent. */
  readonly finish: (id: Id) => boolean;
  /** Once per request, whatever ended it. */
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

/** One exchange with the upstream: on which kind of link, and its monotonic times. */
export interface Exchange {
  readonly isolation: Link['isolation'];
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** One data request of the client, from its frame to its one answer: what the client hears of it, and what is written down. */
export class Turn {
  readonly request: Request;
  readonly target: Target;
  private readonly readAt: number;
  private readonly deps: TurnDeps;
  private readonly token: Id | undefined;
  private progressed = Number.NEGATIVE_INFINITY;
  private isOver = false;
  private atEnd: () => void = () => {};

  constructor(request: Request, target: Target, readAt: number, deps: TurnDeps) {
    this.request = request;
    this.target = target;
    this.readAt = readAt;
    this.deps = deps;
    this.token = progressToken(request);
  }

  get over(): boolean {
    return this.isOver;
  }

  /** Runs this once, when the turn has ended in whatever way. */
  whenOver(run: () => void): void {
    this.atEnd = run;
  }

  /** Passed on where the client asked for it and it is more than before (MCP 2025-11-25, Progress). */
  progress(notification: Notification): void {
    const value = numberField(notification.text, notification.params, 'progress');
    if (this.isOver || this.token === undefined || value === undefined || !Number.isFinite(value)) return;
    if (value <= this.progressed) return;
    this.progressed = value;
    this.deps.send(rewriteNotification(notification, { progressToken: this.token }), 'progress');
  }

  /** `frame` answers the request. */
  answer(frame: string, outcome: Outcome, exchange?: Exchange): void {
    if (!this.claim()) return;
    this.deps.send(frame, 'answer', exchange?.isolation === 'shared' ? 'shared' : undefined);
    const now = this.deps.clock.elapsed();
    const theirs = exchange === undefined ? undefined : exchange.receivedAt - exchange.sentAt;
    this.report(outcome, now, theirs === undefined ? undefined : now - this.readAt - theirs);
  }

  refuse(error: WireError): void {
    this.answer(errorText(this.request.id, error), 'error');
  }

  /** The principal may do this no more. */
  deny(error: WireError): void {
    this.answer(errorText(this.request.id, error), 'denied');
  }

  fail(fault: Fault): void {
    if (!this.claim()) return;
    this.deps.send(errorText(this.request.id, faultError(fault)), 'answer');
    this.report(fault.reason === 'timeout' ? 'timeout' : 'failed', this.deps.clock.elapsed(), undefined, fault);
  }

  /** The client wants no answer, or is gone. */
  cancelled(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.atEnd();
    this.report('cancelled', this.deps.clock.elapsed());
  }

  private claim(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    this.atEnd();
    return this.deps.finish(this.request.id);
  }

  private report(outcome: Outcome, now: number, overhead?: number, cause?: unknown): void {
    const { request, target, readAt } = this;
    this.deps.ended({ request, target, outcome, duration: now - readAt, overhead, cause });
  }
}

export function outcomeOf(response: Response): Outcome {
  if (response.outcome === 'error') return 'error';
  const isError = field(response.payload.inner, 'isError');
  return isError !== undefined && response.text.startsWith('true', isError.start) ? 'tool_error' : 'ok';
}
