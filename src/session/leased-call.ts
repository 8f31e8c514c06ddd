import type { Cancel, Clock } from '../ports/clock.ts';
import type { Lease, Link, Links, LinkUser, Question, Relayed, Reply, Tenant, Withdraw } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Notification, Response } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { asFault, Fault, faultError, METHOD_NOT_FOUND, type WireError } from '../protocol/errors.ts';
import { inputRequiredText } from '../protocol/input-required.ts';
import { type LogLevel, reaches } from '../protocol/log-level.ts';
import { isMet, missingCapability, needOf, questionRefusal } from '../protocol/need.ts';
import type { Unanswered } from './in-flight.ts';
import { OpenQuestions } from './open-questions.ts';
import { type Extras, outgoing, type Spelled } from './relay.ts';
import type { Said } from './said.ts';
import { STATE_MS } from './states.ts';
import type { Turn } from './turn.ts';

export interface LeasedCallDeps {
  readonly links: Links;
  readonly user: LinkUser;
  readonly clock: Clock;
  readonly log: Log;
  /** How deep a message may nest. */
  readonly depth: number;
  readonly spell: (response: Response, turn: Turn, said: Said, upstream: Era) => Spelled;
  /** A link that is about to carry a call which wants log messages from this level up. */
  readonly ready: (link: Link, level: LogLevel | undefined) => void;
  /** Something has been handed to this link. */
  readonly wrote: (link: Link) => void;
  readonly logged: (notification: Notification) => void;
  /** The call has failed without the upstream having seen it. */
  readonly untaken: () => void;
  /** Ends a call that has waited for its client for long; false where there is none. */
  readonly makeRoom: (upstream: string) => boolean;
  /** The call waits for its client from now on; returns the state that names it. */
  readonly park: (call: LeasedCall, turn: Turn) => string;
  /** It ended while its client was away. */
  readonly endedUnheard: (call: LeasedCall) => void;
  /** It waits no more. */
  readonly unpark: (call: LeasedCall) => void;
}

/**
 * One call of a modern client on a handshake upstream that may ask the client. It outlives the requests it comes in:
 * where the upstream asks, the request is answered with the questions and the call stays on its link; the same request,
 * sent again with the answers, takes it up.
 */
export class LeasedCall implements Reply, Tenant, Unanswered {
  private readonly deps: LeasedCallDeps;
  /** The client's request that waits now; none while the call waits for the client. */
  private turn: Turn | undefined;
  private said: Said;
  private readonly extras: Extras;
  readonly upstream: string;
  private readonly questions: OpenQuestions;
  private lease: Lease | undefined;
  private relayed: Relayed | undefined;
  /** How the call ended while it waited for the client. */
  private end: ((turn: Turn) => void) | undefined;
  /** Characters of the answer that waits for the client. */
  held = 0;
  private retried = false;
  private over = false;
  private stopWaiting: Cancel = () => {};
  private waitsSince = Number.POSITIVE_INFINITY;
  /** Whose call it is, and the last request it came in. */
  private facts: { readonly upstream: string; readonly session: string; readonly request: string };

  constructor(turn: Turn, said: Said, extras: Extras, deps: LeasedCallDeps) {
    this.turn = turn;
    this.said = said;
    this.extras = extras;
    this.deps = deps;
    this.upstream = turn.target.upstream;
    this.facts = { upstream: this.upstream, session: deps.user.session, request: String(turn.request.id) };
    this.questions = new OpenQuestions(deps.depth);
  }

  start(): void {
    this.deps.links
      .lease(this.upstream, this.deps.user, this)
      .then((lease) => this.begin(lease))
      .catch((cause: unknown) => this.notLent(asFault(cause)));
  }

  /** The client sends the request again. What nobody asked for is ignored; what it leaves unanswered is asked anew. */
  resume(turn: Turn, said: Said, responses: ReadonlyMap<string, string>): void {
    this.stopWaiting();
    this.deps.unpark(this);
    this.turn = turn;
    this.facts = { ...this.facts, request: String(turn.request.id) };
    this.said = said;
    this.questions.bring(responses);
    const { end } = this;
    if (end !== undefined) this.finish(true);
    if (end !== undefined) end(turn);
    else this.surface();
  }

  /** It is over for the upstream, and its client does not know yet. */
  get hasEnded(): boolean {
    return this.end !== undefined;
  }

  /** Milliseconds for which it has waited for its client; below zero while it does not. */
  get waited(): number {
    return this.turn === undefined ? this.deps.clock.elapsed() - this.waitsSince : -1;
  }

  answered(response: Response, receivedAt: number): void {
    const sentAt = this.relayed?.sentAt ?? receivedAt;
    const { isolation = 'session', peer } = this.lease?.link ?? {};
    const era = peer?.era ?? 'handshake';
    this.ends(
      this.questions.size === 0,
      (turn) => {
        const { frame, outcome } = this.deps.spell(response, turn, this.said, era);
        turn.answer(frame, outcome, { isolation, sentAt, receivedAt });
      },
      response.text.length,
    );
  }

  progress(notification: Notification): void {
    this.turn?.progress(notification);
  }

  failed(fault: Fault, again: boolean): void {
    if (!again || this.retried || this.over || this.turn === undefined)
      return this.ends(false, (turn) => turn.fail(fault));
    this.retried = true;
    this.lease?.release(false);
    this.lease = undefined;
    this.relayed = undefined;
    this.start();
  }

  /**
   * A client that cannot be asked this is told so, except for what a server asks of every client it meets: without roots,
   * and before the call is with it, it goes on.
   */
  asked(question: Question): Withdraw {
    const { request } = question;
    const need = needOf(request);
    const declared = need !== undefined && isMet(need, this.said.declares);
    if (declared && !this.over) return this.add(question);
    question.refuse(questionRefusal(request, this.said.declares) ?? NO_CALL);
    if (need !== undefined && need.capability !== 'roots' && this.relayed !== undefined)
      this.ends(false, (turn) => turn.refuse(missingCapability(need)));
    return () => {};
  }

  logged(notification: Notification): void {
    const { logLevel } = this.said;
    if (this.turn !== undefined && logLevel !== undefined && reaches(logLevel, notification))
      this.deps.logged(notification);
  }

  displace(): void {
    this.deps.log.info('parked_call_displaced', this.facts);
    this.cancel();
  }

  /** The client wants no answer, or is gone. */
  cancel(notification?: Notification): void {
    this.turn?.cancelled();
    this.finish(false, notification);
  }

  private notLent(fault: Fault): void {
    if (this.over) return;
    if (fault.reason === 'at_capacity' && this.deps.makeRoom(this.upstream)) return this.start();
    this.deps.untaken();
    this.ends(false, (turn) => turn.fail(fault));
  }

  private begin(lease: Lease): void {
    if (this.over || this.turn === undefined) return lease.release(true);
    this.lease = lease;
    const { link } = lease;
    this.deps.ready(link, this.extras.logLevel);
    this.relayed = link.relay(outgoing(this.turn, this.extras), this);
    this.deps.wrote(link);
    this.surfaceSoon();
  }

  private add(question: Question): Withdraw {
    const withdraw = this.questions.add(question);
    if (withdraw === undefined) question.refuse(faultError(new Fault('too_large')));
    else this.surfaceSoon();
    return withdraw ?? (() => {});
  }

  /** What comes at once is asked at once. */
  private surfaceSoon(): void {
    Promise.resolve()
      .then(() => this.surface())
      .catch((cause: unknown) => this.ends(false, (turn) => turn.fail(asFault(cause))));
  }

  /** Answers the request that waits with what the upstream asks, and waits for the client in its place. */
  private surface(): void {
    const { turn } = this;
    if (this.over || turn === undefined || this.relayed === undefined || this.questions.size === 0) return;
    const undeclared = this.questions.unmet(this.said.declares);
    if (undeclared !== undefined) return this.ends(false, () => turn.refuse(missingCapability(undeclared)));
    this.turn = undefined;
    this.waitsSince = this.deps.clock.elapsed();
    this.stopWaiting = this.deps.clock.after(STATE_MS, () => this.expire());
    const state = this.deps.park(this, turn);
    turn.answer(inputRequiredText(turn.request.id, this.questions.asRequests(), state), 'input_required');
  }

  private expire(): void {
    this.deps.log.info('parked_call_expired', this.facts);
    this.finish(false);
  }

  /** `say` is what the client hears of it: now, or when it comes back. */
  private ends(clean: boolean, say: (turn: Turn) => void, held = 0): void {
    if (this.over) return;
    const { turn } = this;
    if (turn === undefined) {
      this.end = say;
      this.held = held;
      this.giveBack(clean);
      this.deps.endedUnheard(this);
    } else {
      this.finish(clean);
      say(turn);
    }
  }

  private finish(clean: boolean, notification?: Notification): void {
    this.over = true;
    this.stopWaiting();
    this.deps.unpark(this);
    this.giveBack(clean, notification);
  }

  /** A call the upstream still has is cancelled. */
  private giveBack(clean: boolean, notification?: Notification): void {
    this.relayed?.cancel(notification);
    this.lease?.release(clean);
    this.lease = undefined;
  }
}

/** The call a question belongs to is over. */
const NO_CALL: WireError = { code: METHOD_NOT_FOUND, message: 'Method not found' };
