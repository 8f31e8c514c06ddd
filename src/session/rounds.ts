import { randomUUID } from 'node:crypto';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Outgoing, Question, Withdraw } from '../ports/link.ts';
import { answeredError } from '../protocol/answered-error.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { requestText } from '../protocol/compose.ts';
import { type Request, type Response, readMessage } from '../protocol/envelope.ts';
import { Fault, type WireError } from '../protocol/errors.ts';
import { type InputRequest, inputRequestsOf, needOfInput, requestStateOf } from '../protocol/input-required.ts';
import { hasMember, withMember } from '../protocol/members.ts';
import { isMet } from '../protocol/need.ts';
import type { Turn } from './turn.ts';

export type Inputs = NonNullable<Outgoing['inputs']>;

export interface RoundsDeps {
  readonly clock: Clock;
  readonly depth: number;
  readonly ask: (question: Question) => Withdraw;
  readonly declared: ClientCapabilities;
  readonly turn: Turn;
  /** All questions of a round are answered: the request is to be sent again with these. */
  readonly again: (inputs: Inputs) => void;
}

/** How long a client has for the questions of one round, and how long a server that asks nothing waits to be asked again. Milliseconds. */
export const ANSWER_MS = 600_000;
const POLL_MS = 250;
/** Rounds of one call at most. */
const MAX_ROUNDS = 16;

/**
 * What a modern upstream asks in place of an answer, put to a handshake client as requests: one round of questions after
 * the other, each answered in full before the call goes on. Its end is the call's: an answer, an error, or `close`.
 */
export class Rounds {
  private readonly deps: RoundsDeps;
  private withdrawals: Withdraw[] = [];
  private stopTimer: Cancel = () => {};
  private round = 0;

  constructor(deps: RoundsDeps) {
    this.deps = deps;
  }

  begin(response: Response): void {
    this.round += 1;
    const questions = this.questionsOf(response);
    const state = requestStateOf(response);
    if (typeof questions === 'string') return this.misfit(questions);
    if (this.round > MAX_ROUNDS) return this.misfit('the upstream asks without end');
    if (questions.length > 0) return this.put(questions, state);
    if (state === undefined) return this.misfit('the upstream asks for nothing');
    this.stopTimer = this.deps.clock.after(POLL_MS, () => this.deps.again({ responses: undefined, state }));
  }

  /** Nobody wants the answers any more. Idempotent. */
  close(): void {
    this.stopTimer();
    for (const withdraw of this.withdrawals.splice(0)) withdraw();
  }

  private put(questions: readonly Asked[], state: string | undefined): void {
    const answers = new Map<string, string>();
    const { round } = this;
    this.stopTimer = this.deps.clock.after(ANSWER_MS, () => this.fail(new Fault('timeout')));
    for (const { key, request } of questions) {
      const answered = (result: string) => {
        answers.set(key, result);
        if (answers.size === questions.length) this.complete(answers, state);
      };
      const refused = (error: WireError) => {
        if (this.round === round) this.refuse(error);
      };
      this.withdrawals.push(this.deps.ask(questionTo(request, answered, refused)));
      if (this.deps.turn.over) return this.close();
    }
  }

  private complete(answers: ReadonlyMap<string, string>, state: string | undefined): void {
    this.stopTimer();
    this.withdrawals = [];
    const members = [...answers].map(([key, result]) => `${JSON.stringify(key)}:${result}`);
    this.deps.again({ responses: `{${members.join(',')}}`, state });
  }

  /** What the upstream asks, as requests; a sentence for the log where this client cannot be asked that. */
  private questionsOf(response: Response): readonly Asked[] | string {
    const requests = inputRequestsOf(response);
    if (requests === undefined) return 'the upstream asks in no form of its revision';
    const asked: Asked[] = [];
    for (const [key, question] of requests) {
      const request = this.requestOf(question);
      const need = needOfInput(question);
      if (request === undefined || need === undefined) return 'the upstream asks what no client answers';
      if (!isMet(need, this.deps.declared)) return 'the upstream asks what the client did not declare';
      asked.push({ key, request });
    }
    return asked;
  }

  /** A form of elicitation this era has an id for gets one (MCP 2025-11-25, `ElicitRequestURLParams`). */
  private requestOf({ method, params }: InputRequest): Request | undefined {
    const lacksId = method === 'elicitation/create' && !hasMember(params, 'elicitationId');
    const url = lacksId && hasMember(params, 'url');
    const spelled = url ? withMember(params, 'elicitationId', JSON.stringify(randomUUID())) : params;
    const message = readMessage(requestText(0, method, spelled), this.deps.depth);
    return message.kind === 'request' ? message : undefined;
  }

  private misfit(sentence: string): void {
    this.fail(new Fault('too_large', { cause: new Error(sentence) }));
  }

  private fail(fault: Fault): void {
    this.deps.turn.fail(fault);
    this.close();
  }

  /** The client will not answer: its own error is what the call ends with. */
  private refuse(error: WireError): void {
    this.deps.turn.refuse(error);
    this.close();
  }
}

interface Asked {
  readonly key: string;
  readonly request: Request;
}

function questionTo(
  request: Request,
  answered: (result: string) => void,
  refused: (error: WireError) => void,
): Question {
  return {
    request,
    answer: (response) => {
      const { text, payload } = response;
      if (response.outcome === 'result') answered(text.slice(payload.start, payload.end));
      else refused(answeredError(response));
    },
    refuse: refused,
    progress: () => {},
  };
}
