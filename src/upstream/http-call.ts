import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Clock } from '../ports/clock.ts';
import type { ChannelFailure } from '../ports/transport.ts';
import { answers } from './http-answered.ts';
import { reconnectDelay } from './http-backoff.ts';
import { type BodyEnd, bodyKind, drain, readBody } from './http-body.ts';
import type { CallHeaders } from './http-headers.ts';
import { judgePost, judgeStream, type Lost, statusError } from './http-status.ts';
import type { Wire, WireFailure } from './http-wire.ts';
import { type Cursor, readEvents } from './sse-text.ts';

export interface CallParts {
  readonly wire: Wire;
  readonly headers: CallHeaders;
  readonly clock: Clock;
  readonly maxMessage: number;
  readonly lingerMs: number;
}

/** What a call tells the channel. `answered` or `failed` settles it: once, one of the two. */
export interface CallHeard {
  /** The POST was accepted, nothing of its body is read yet. A fault returned fails the call. */
  accepted(answer: IncomingMessage): Error | undefined;
  /** Comes before the answer's own `message`. */
  answered(text: string): void;
  message(text: string): void;
  failed(failure: ChannelFailure): void;
  /** Told after `failed`. */
  lost(what: Lost, cause: Error): void;
}

/** Failed reconnects in a row after which a call is given up; an empty stream is none, its end is the caller's deadline. */
const MAX_RECONNECTS = 5;

/** One request on its way: the POST, its answer as JSON or events, and the GETs that resume a stream cut before the answer, where it can be resumed. */
export class HttpCall {
  readonly #parts: CallParts;
  readonly #heard: CallHeard;
  readonly #id: number;
  readonly #cursor: Cursor = { lastEventId: undefined, retryMs: undefined };
  readonly #sessioned: boolean;
  #state: 'posted' | 'accepted' | 'settled' | 'aborted' = 'posted';
  #failedReconnects = 0;
  #emptyStreams = 0;
  /** Ends what is open now: a request with its answer, or the wait before one. */
  #stop: () => void;

  constructor(parts: CallParts, id: number, message: string, heard: CallHeard) {
    this.#parts = parts;
    this.#heard = heard;
    this.#id = id;
    this.#sessioned = parts.headers.session !== undefined;
    const outgoing = { method: 'POST', headers: parts.headers.post(), body: message } as const;
    this.#stop = parts.wire.request(outgoing, {
      response: (answer) => this.#onAnswer(answer),
      failed: (failure) => this.#onPostFailed(failure),
    });
  }

  get id(): number {
    return this.#id;
  }

  /** The server has not yet said anything about it. */
  get undecided(): boolean {
    return this.#state === 'posted';
  }

  get #waits(): boolean {
    return this.#state === 'posted' || this.#state === 'accepted';
  }

  /** Ends it and all it opened, without a word. Idempotent. */
  abort(): void {
    this.#state = 'aborted';
    this.#stop();
  }

  #onAnswer(answer: IncomingMessage): void {
    const status = answer.statusCode ?? 0;
    const verdict = judgePost(status, this.#sessioned);
    this.#state = 'accepted';
    if (verdict === 'taken') this.#onTaken(answer);
    else if (verdict === 'lost') this.#loseSession(answer, statusError(status));
    else if (bodyKind(answer) === 'json') this.#readJson(answer, statusError(status));
    else this.#refuse(answer, statusError(status));
  }

  #onTaken(answer: IncomingMessage): void {
    const kind = bodyKind(answer);
    const fault = this.#heard.accepted(answer) ?? kindFault(kind);
    if (fault !== undefined) this.#refuse(answer, fault);
    else if (kind === 'json') this.#readJson(answer);
    else this.#readStream(answer);
  }

  #refuse(answer: IncomingMessage, cause: Error): void {
    drain(answer);
    this.#fail('upstream_unavailable', cause);
  }

  /** `refusal` is set for a status that fails the call unless the body is its JSON-RPC answer all the same. */
  #readJson(answer: IncomingMessage, refusal?: Error): void {
    readBody(answer, this.#parts.maxMessage, (body) => {
      if (!this.#waits) return;
      if (body.end === 'whole' && answers(body.text, this.#id)) this.#deliverAnswer(body.text);
      else if (refusal !== undefined) this.#fail('upstream_unavailable', refusal);
      else this.#fail(body.end === 'cut' ? 'upstream_closed' : 'too_large', bodyFault(body.end));
    });
  }

  #readStream(answer: IncomingMessage): void {
    let carried = false;
    readEvents(answer, this.#parts.maxMessage, this.#cursor, {
      message: (text) => {
        carried = true;
        this.#onEvent(text, answer);
      },
      over: (why) => this.#onStreamOver(why, carried),
    });
  }

  #onEvent(text: string, answer: IncomingMessage): void {
    if (this.#state === 'aborted') return;
    if (!this.#waits || !answers(text, this.#id)) {
      this.#heard.message(text);
      return;
    }
    this.#linger(answer);
    this.#deliverAnswer(text);
  }

  /** A stream that is not read, because its owner has paused, has its time once it is. */
  #linger(answer: IncomingMessage): void {
    const cancel = this.#parts.clock.after(this.#parts.lingerMs, () => {
      answer.off('close', cancel);
      if (answer.isPaused()) answer.once('resume', () => this.#linger(answer));
      else answer.destroy();
    });
    answer.once('close', cancel);
  }

  #onStreamOver(why: 'ended' | 'too_large', carried: boolean): void {
    if (!this.#waits) return;
    this.#emptyStreams = carried ? 0 : this.#emptyStreams + 1;
    if (why === 'too_large') this.#fail('too_large', new Error('an event is over the limit'));
    else this.#reconnect(new Error('the stream ended before the answer'));
  }

  /** A server that names `retry` closes streams on purpose, to be polled at that pace; others are asked ever less often. */
  #reconnect(cause: Error): void {
    const { lastEventId, retryMs } = this.#cursor;
    const headers = lastEventId === undefined ? undefined : this.#parts.headers.get?.(lastEventId);
    if (headers === undefined || this.#failedReconnects >= MAX_RECONNECTS) {
      this.#fail('upstream_closed', cause);
      return;
    }
    const fruitless = this.#failedReconnects + (retryMs === undefined ? Math.max(this.#emptyStreams - 1, 0) : 0);
    const delay = reconnectDelay(fruitless, retryMs, Math.random());
    this.#stop = this.#parts.clock.after(delay, () => this.#resume(headers));
  }

  #resume(headers: OutgoingHttpHeaders): void {
    this.#stop = this.#parts.wire.request(
      { method: 'GET', headers },
      {
        response: (answer) => this.#onResumed(answer),
        failed: ({ cause, unreachable }) => {
          if (unreachable) this.#loseStream(cause, 'server');
          else this.#reconnectFailed(cause);
        },
      },
    );
  }

  #onResumed(answer: IncomingMessage): void {
    const status = answer.statusCode ?? 0;
    const verdict = judgeStream(status, bodyKind(answer), { resuming: true, hadStream: this.#sessioned });
    if (verdict === 'read') {
      this.#failedReconnects = 0;
      this.#readStream(answer);
      return;
    }
    drain(answer);
    if (verdict === 'again') this.#reconnectFailed(statusError(status));
    else this.#loseStream(statusError(status), verdict === 'lost' ? 'session' : undefined);
  }

  #reconnectFailed(cause: Error): void {
    this.#failedReconnects += 1;
    this.#reconnect(cause);
  }

  #loseStream(cause: Error, what?: Lost): void {
    this.#fail('upstream_closed', cause);
    if (what !== undefined) this.#heard.lost(what, cause);
  }

  #onPostFailed({ cause, unreachable, sent }: WireFailure): void {
    this.#fail(sent ? 'upstream_closed' : 'upstream_unavailable', cause);
    if (unreachable) this.#heard.lost('server', cause);
  }

  /** The server did not act on the request: it may be sent again under a new session (MCP 2025-11-25, session management). */
  #loseSession(answer: IncomingMessage, cause: Error): void {
    drain(answer);
    this.#state = 'settled';
    this.#heard.failed({ reason: 'upstream_unavailable', cause, sessionGone: true });
    this.#heard.lost('session', cause);
  }

  #deliverAnswer(text: string): void {
    this.#state = 'settled';
    this.#heard.answered(text);
    this.#heard.message(text);
  }

  #fail(reason: ChannelFailure['reason'], cause: Error): void {
    this.#state = 'settled';
    this.#heard.failed({ reason, cause });
  }
}

function kindFault(kind: ReturnType<typeof bodyKind>): Error | undefined {
  if (kind === 'json' || kind === 'events') return undefined;
  return new Error(kind === 'encoded' ? 'the body is compressed' : 'the body is neither JSON nor an event stream');
}

function bodyFault(end: BodyEnd['end']): Error {
  if (end === 'cut') return new Error('the answer was cut off');
  return new Error(end === 'too_large' ? 'the answer is over the limit' : 'the body is not the answer to the request');
}
