import type { IncomingMessage } from 'node:http';
import type { Channel, ChannelFailure, Dial, Receiver } from '../ports/transport.ts';
import { negotiatedVersion } from './http-answered.ts';
import { HttpCalls } from './http-calls.ts';
import { HttpDelivery } from './http-delivery.ts';
import { sayFarewell } from './http-farewell.ts';
import { HttpHeaders } from './http-headers.ts';
import { HttpListen } from './http-listen.ts';
import { HttpNotices, type NoticeEnd } from './http-notice.ts';
import { type HttpParts, openParts, type StreamableHttpDeps, type StreamableHttpOptions } from './http-opening.ts';
import type { Lost } from './http-status.ts';
import { StatelessHttp } from './stateless-http.ts';

export type { StreamableHttpOptions };

/**
 * A channel over Streamable HTTP (MCP 2025-11-25, 2025-06-18, 2025-03-26, transports). Dialling opens nothing: the first
 * request sent, `initialize`, shows whether somebody is there, and when it fails for other reasons than its answer, the
 * channel closes. So it does when no connection comes about later on (the server is gone) and when the session is lost.
 * Any other failure is one request's.
 */
export function dialStreamableHttp(options: StreamableHttpOptions, deps: StreamableHttpDeps): Dial {
  return async (receiver, signal, era) => {
    signal.throwIfAborted();
    const Era = era === 'modern' ? StatelessHttp : StreamableHttp;
    return new Era(options, deps, receiver);
  };
}

/**
 * fresh → initializing → answered → confirming → open, where `initializing` and `confirming` hold what is sent until the
 * server has taken `initialize` and `notifications/initialized`. `gone`: the session is lost, calls under way are
 * learning of it. `ended` is for ever.
 */
type Phase = 'fresh' | 'initializing' | 'answered' | 'confirming' | 'open' | 'gone' | 'ended';

interface Waiting {
  readonly message: string;
  readonly id: number | undefined;
}

/** Messages held while the session opens; what is over is refused. */
const MAX_WAITING = 1_024;

class StreamableHttp implements Channel {
  readonly #parts: HttpParts & { readonly headers: HttpHeaders };
  readonly #delivery: HttpDelivery;
  readonly #notices: HttpNotices;
  readonly #calls: HttpCalls;
  #waiting: Waiting[] = [];
  #phase: Phase = 'fresh';
  #listen: HttpListen | undefined;
  #cancelSettling: () => void = nothing;
  #left: Promise<void> | undefined;

  constructor(options: StreamableHttpOptions, deps: StreamableHttpDeps, receiver: Receiver) {
    this.#parts = { ...openParts(options, deps), headers: new HttpHeaders(options.headers) };
    this.#delivery = new HttpDelivery(receiver);
    this.#calls = new HttpCalls(this.#parts, this.#delivery);
    this.#notices = new HttpNotices({ ...this.#parts, acknowledgeMs: this.#parts.timing.acknowledge });
  }

  send(message: string, id?: number): boolean {
    if (this.#phase === 'ended') return false;
    if (this.#phase === 'gone') return this.#refuseGone(id);
    if (this.#phase === 'initializing' || this.#phase === 'confirming') return this.#hold(message, id);
    this.#post(message, id);
    return true;
  }

  forget(id: number): void {
    this.#waiting = this.#waiting.filter((held) => held.id !== id);
    this.#calls.abort(id);
    this.#endWhenSettled();
  }

  get backlog(): number {
    return this.#parts.wire.backlog;
  }

  get unconnected(): number {
    return this.#parts.wire.unconnected;
  }

  pause(): void {
    this.#delivery.pause();
    this.#parts.wire.pause();
  }

  resume(): void {
    this.#delivery.resume();
    if (!this.#delivery.paused) this.#parts.wire.resume();
  }

  close(): Promise<void> {
    this.#left ??= this.#leave();
    return this.#left;
  }

  #post(message: string, id: number | undefined): void {
    if (id !== undefined) this.#call(message, id);
    else this.#notify(message);
  }

  #call(message: string, id: number): void {
    const initializing = this.#phase === 'fresh';
    if (initializing) this.#phase = 'initializing';
    const posted = { id, message, headers: this.#parts.headers };
    this.#calls.start(posted, {
      accepted: (answer) => (initializing ? this.#startSession(answer) : undefined),
      answered: (text) => (initializing ? this.#initialized(text) : undefined),
      failed: ({ cause }) => (initializing ? this.#end(cause) : undefined),
      lost: (what, cause) => this.#lose(what, cause),
    });
  }

  #startSession(answer: IncomingMessage): Error | undefined {
    const valid = this.#parts.headers.startSession(answer.headers['mcp-session-id']);
    return valid ? undefined : new Error('the session id cannot stand in a header');
  }

  #initialized(answer: string): void {
    this.#parts.headers.useVersion(negotiatedVersion(answer));
    this.#phase = 'answered';
    this.#flush();
  }

  #notify(message: string): void {
    const confirming = this.#phase === 'answered' && message.includes('"notifications/initialized"');
    if (confirming) this.#phase = 'confirming';
    const posted = this.#notices.post(message, (end) => this.#onNotice(end, confirming));
    if (!posted) this.#parts.log.warn('upstream_notice_dropped');
  }

  #onNotice(notice: NoticeEnd, confirming: boolean): void {
    if (this.#phase === 'ended') return;
    if (notice.end !== 'taken') this.#parts.log.warn('upstream_notice_refused', { err: notice.cause });
    if (notice.end === 'session' || notice.end === 'server') this.#lose(notice.end, notice.cause);
    else if (confirming) this.#open();
  }

  #open(): void {
    this.#phase = 'open';
    this.#listen = new HttpListen(this.#parts, {
      message: (text) => this.#delivery.message(text),
      lost: (what, cause) => this.#lose(what, cause),
    });
    this.#flush();
  }

  #hold(message: string, id: number | undefined): boolean {
    if (this.#waiting.length >= MAX_WAITING) return false;
    this.#waiting.push({ message, id });
    return true;
  }

  /** Each goes the way it would go if sent now, which holds the rest again once `initialized` is among them. */
  #flush(): void {
    for (const { message, id } of this.#waiting.splice(0)) this.send(message, id);
  }

  #lose(what: Lost, cause: Error): void {
    if (what === 'server') this.#end(cause);
    else if (this.#phase !== 'ended') this.#loseSession(cause);
  }

  #loseSession(cause: Error): void {
    if (this.#phase !== 'gone') {
      this.#phase = 'gone';
      this.#listen?.close();
      for (const { id } of this.#waiting.splice(0)) if (id !== undefined) this.#delivery.failed(id, neverSent());
      this.#cancelSettling = this.#parts.clock.after(this.#parts.timing.settle, () => this.#end(cause));
    }
    this.#endWhenSettled();
  }

  /** Calls the server has not yet said anything about are likely to be answered 404 too, and can then be sent again. */
  #endWhenSettled(): void {
    if (this.#phase === 'gone' && !this.#calls.undecided) this.#end(sessionGone());
  }

  /** Nothing was sent, so the request may go out under the next session. Told later: nobody expects it within `send`. */
  #refuseGone(id: number | undefined): boolean {
    if (id === undefined) return false;
    queueMicrotask(() => this.#delivery.failed(id, neverSent()));
    return true;
  }

  /** The channel ends by itself: what waits for an answer fails, then the owner hears why. */
  #end(cause: Error): void {
    if (this.#phase === 'ended') return;
    const { calls, waiting } = this.#stop();
    this.#parts.wire.destroy();
    this.#left = Promise.resolve();
    for (const id of calls) this.#delivery.failed(id, { reason: 'upstream_closed', cause });
    for (const { id } of waiting)
      if (id !== undefined) this.#delivery.failed(id, { reason: 'upstream_unavailable', cause });
    this.#delivery.closed(cause);
  }

  /** The owner ends it: what was sent without an answer still gets through, then the session is given back (DELETE). */
  async #leave(): Promise<void> {
    const holds = this.#parts.headers.session !== undefined && this.#phase !== 'gone';
    this.#delivery.silence();
    this.#stop();
    this.#parts.wire.resume();
    const farewellMs = this.#parts.timing.farewell;
    await sayFarewell({ ...this.#parts, notices: this.#notices, farewellMs }, holds);
    this.#parts.wire.destroy();
    this.#delivery.closed();
  }

  /** Ends all that can still say something; returns the ids of the calls under way and what was never sent. */
  #stop(): { readonly calls: number[]; readonly waiting: Waiting[] } {
    this.#phase = 'ended';
    this.#cancelSettling();
    this.#listen?.close();
    return { calls: this.#calls.abortAll(), waiting: this.#waiting.splice(0) };
  }
}

function neverSent(): ChannelFailure {
  return { reason: 'upstream_unavailable', cause: sessionGone(), sessionGone: true };
}

function sessionGone(): Error {
  return new Error('the upstream has forgotten the session');
}

function nothing(): void {}
