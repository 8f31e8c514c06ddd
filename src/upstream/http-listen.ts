import type { IncomingMessage } from 'node:http';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { reconnectDelay } from './http-backoff.ts';
import { bodyKind, drain } from './http-body.ts';
import type { HttpHeaders } from './http-headers.ts';
import { judgeStream, type Lost, statusError } from './http-status.ts';
import type { Wire } from './http-wire.ts';
import { type Cursor, readEvents } from './sse-text.ts';

export interface ListenParts {
  readonly wire: Wire;
  readonly headers: HttpHeaders;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxMessage: number;
}

export interface ListenHeard {
  message(text: string): void;
  /** Last. */
  lost(what: Lost, cause: Error): void;
}

/** A stream that lasted this long was a good one: the next reconnect is quick again. */
const GOOD_STREAM_MS = 10_000;

/**
 * The stream on which a server speaks unasked (MCP 2025-11-25, transports, listening for messages), reopened with
 * Last-Event-ID for as long as the channel lives. A server that has none is not asked again.
 */
export class HttpListen {
  readonly #parts: ListenParts;
  readonly #heard: ListenHeard;
  readonly #cursor: Cursor = { lastEventId: undefined, retryMs: undefined };
  #attempt = 0;
  #hadStream = false;
  #ended = false;
  #stop: () => void = () => {};

  constructor(parts: ListenParts, heard: ListenHeard) {
    this.#parts = parts;
    this.#heard = heard;
    this.#open();
  }

  /** Idempotent. */
  close(): void {
    this.#ended = true;
    this.#stop();
  }

  #open(): void {
    const outgoing = { method: 'GET', headers: this.#parts.headers.get(this.#cursor.lastEventId) } as const;
    this.#stop = this.#parts.wire.request(outgoing, {
      response: (answer) => this.#onAnswer(answer),
      failed: ({ cause, unreachable }) => (unreachable ? this.#lose('server', cause) : this.#again()),
    });
  }

  #onAnswer(answer: IncomingMessage): void {
    const status = answer.statusCode ?? 0;
    const request = { resuming: this.#cursor.lastEventId !== undefined, hadStream: this.#hadStream };
    const verdict = judgeStream(status, bodyKind(answer), request);
    if (verdict === 'read') this.#read(answer);
    else drain(answer);
    if (verdict === 'again') this.#again();
    if (verdict === 'afresh') this.#afresh();
    if (verdict === 'lost') this.#lose('session', statusError(status));
    if (verdict === 'none') this.#without(status);
  }

  #read(answer: IncomingMessage): void {
    const { clock, maxMessage } = this.#parts;
    const opened = clock.elapsed();
    this.#hadStream = true;
    readEvents(answer, maxMessage, this.#cursor, {
      message: (text) => {
        this.#attempt = 0;
        if (!this.#ended) this.#heard.message(text);
      },
      over: (why) => {
        if (clock.elapsed() - opened >= GOOD_STREAM_MS) this.#attempt = 0;
        if (why === 'too_large') this.#afresh();
        else this.#again();
      },
    });
  }

  /** Where going on from the last event would fail again, or bring the same over-long one. */
  #afresh(): void {
    if (this.#ended) return;
    this.#cursor.lastEventId = undefined;
    this.#parts.log.warn('upstream_events_lost');
    this.#again();
  }

  #again(): void {
    if (this.#ended) return;
    const delay = reconnectDelay(this.#attempt, this.#cursor.retryMs, Math.random());
    this.#attempt += 1;
    this.#stop = this.#parts.clock.after(delay, () => this.#open());
  }

  #without(status: number): void {
    this.#ended = true;
    this.#parts.log.info('upstream_without_stream', { status });
  }

  #lose(what: Lost, cause: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#heard.lost(what, cause);
  }
}
