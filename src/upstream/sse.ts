import type { IncomingMessage } from 'node:http';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Channel, Dial, Receiver } from '../ports/transport.ts';
import { bodyKind, drain } from './http-body.ts';
import { HttpDelivery } from './http-delivery.ts';
import { sayFarewell } from './http-farewell.ts';
import { HttpHeaders } from './http-headers.ts';
import { HttpNotices, type NoticeEnd } from './http-notice.ts';
import { statusError } from './http-status.ts';
import { HTTP_TIMING } from './http-timing.ts';
import { openWire, type Wire } from './http-wire.ts';
import { messageEndpoint } from './sse-endpoint.ts';
import { readEvents } from './sse-text.ts';

export interface SseOptions {
  /** Of the event stream, http or https. */
  readonly url: string;
  /** Every request carries them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of one message from the upstream; the stream, and with it the channel, ends at a longer one. */
  readonly maxMessage: number;
}

export interface SseDeps {
  readonly log: Log;
  readonly clock: Clock;
  /** The upstream's key, for the log. */
  readonly upstream: string;
}

/** Messages held while the session opens; what is over is refused. */
const MAX_HELD = 1_024;

/**
 * HTTP with SSE (MCP 2024-11-05, transports): one event stream from the server, a POST for each message to it. The
 * channel is open once the server has named where to POST, and lives as long as that stream, which cannot be resumed.
 */
export function dialSse(options: SseOptions, deps: SseDeps): Dial {
  return (receiver, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const channel = new SseChannel(options, deps, receiver);
      const aborted = () => channel.abandon(signal.reason);
      signal.addEventListener('abort', aborted, { once: true });
      const settled = () => signal.removeEventListener('abort', aborted);
      channel.opened.then(() => resolve(channel), reject).finally(settled);
    });
}

class SseChannel implements Channel {
  /** Resolves when messages can be sent; rejects with the cause, nothing left behind. */
  readonly opened: Promise<void>;
  readonly #options: SseOptions;
  readonly #parts: { readonly headers: HttpHeaders; readonly clock: Clock; readonly log: Log };
  readonly #delivery: HttpDelivery;
  readonly #stream: Wire;
  readonly #stopStream: () => void;
  #posts: { readonly wire: Wire; readonly notices: HttpNotices } | undefined;
  #state: 'opening' | 'open' | 'closing' | 'closed' = 'opening';
  #held: Array<() => void> | undefined;
  #left: Promise<void> | undefined;
  #settle: { resolve(): void; reject(cause: unknown): void } = { resolve() {}, reject() {} };

  constructor(options: SseOptions, deps: SseDeps, receiver: Receiver) {
    this.#options = options;
    this.#parts = {
      headers: new HttpHeaders(options.headers),
      clock: deps.clock,
      log: deps.log.child({ upstream: deps.upstream }),
    };
    this.#delivery = new HttpDelivery(receiver);
    this.opened = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#stream = openWire(options.url, HTTP_TIMING.connect, deps.clock);
    const outgoing = { method: 'GET', headers: this.#parts.headers.get(undefined) } as const;
    this.#stopStream = this.#stream.request(outgoing, {
      response: (answer) => this.#onStream(answer),
      failed: ({ cause }) => this.#end(cause),
    });
  }

  send(message: string, id?: number): boolean {
    if (this.#state !== 'open') return false;
    if (this.#held === undefined) this.#post(message, id);
    else if (this.#held.length >= MAX_HELD) return false;
    else this.#held.push(() => this.#post(message, id));
    return true;
  }

  get backlog(): number {
    return this.#posts?.wire.backlog ?? 0;
  }

  get unconnected(): number {
    return this.#posts?.wire.unconnected ?? 0;
  }

  pause(): void {
    if (this.#state !== 'open') return;
    this.#delivery.pause();
    this.#stream.pause();
  }

  resume(): void {
    this.#delivery.resume();
    if (!this.#delivery.paused) this.#stream.resume();
  }

  close(): Promise<void> {
    this.#left ??= this.#state === 'open' ? this.#leave() : Promise.resolve();
    return this.#left;
  }

  /** Whoever dialled does not want the channel any more. */
  abandon(cause: unknown): void {
    if (this.#state === 'opening') this.#end(cause);
  }

  #onStream(answer: IncomingMessage): void {
    const status = answer.statusCode ?? 0;
    if (status !== 200 || bodyKind(answer) !== 'events') {
      drain(answer);
      return this.#end(status === 200 ? new Error('the answer is no event stream') : statusError(status));
    }
    const cursor = { lastEventId: undefined, retryMs: undefined };
    readEvents(answer, this.#options.maxMessage, cursor, {
      message: (text) => {
        if (this.#state === 'open') this.#delivery.message(text);
      },
      other: (type, data) => {
        if (type === 'endpoint' && this.#state === 'opening') this.#open(data);
      },
      over: (why) => this.#end(new Error(why === 'ended' ? 'the event stream ended' : 'an event was over the limit')),
    });
  }

  #open(said: string): void {
    const endpoint = messageEndpoint(said, this.#options.url);
    if (endpoint === undefined) return this.#end(new Error('the message endpoint is not of the origin of the stream'));
    const { clock, headers } = this.#parts;
    const wire = openWire(endpoint, HTTP_TIMING.connect, clock);
    const notices = new HttpNotices({ wire, headers, clock, acknowledgeMs: HTTP_TIMING.acknowledge });
    this.#posts = { wire, notices };
    this.#state = 'open';
    this.#settle.resolve();
  }

  /** POSTs overtake each other, so what follows `initialized` waits until the server has taken that. */
  #post(message: string, id: number | undefined): void {
    const isOpening = id === undefined && message.includes('"notifications/initialized"');
    if (isOpening) this.#held = [];
    const posted = this.#posts?.notices.post(message, (end) => {
      if (isOpening) this.#release();
      this.#onPosted(end, id);
    });
    if (posted !== true) this.#refused(id, new Error('too many messages are under way'));
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const post of held) post();
  }

  #onPosted(notice: NoticeEnd, id: number | undefined): void {
    if (this.#state !== 'open' || notice.end === 'taken') return;
    if (notice.end === 'server') this.#end(notice.cause);
    else this.#refused(id, notice.cause);
  }

  /** Told later: nobody expects it within `send`. */
  #refused(id: number | undefined, cause: Error): void {
    this.#parts.log.warn('upstream_message_refused', { err: cause });
    if (id === undefined) return;
    queueMicrotask(() => this.#delivery.failed(id, { reason: 'upstream_unavailable', cause }));
  }

  /** It ends by itself. */
  #end(cause: unknown): void {
    const before = this.#state;
    if (before === 'closing' || before === 'closed') return;
    this.#destroy();
    if (before === 'opening') this.#settle.reject(cause);
    else this.#delivery.closed(cause instanceof Error ? cause : new Error('ended', { cause }));
  }

  /** The owner ends it: what was sent still gets through. */
  async #leave(): Promise<void> {
    this.#state = 'closing';
    this.#delivery.silence();
    this.#stopStream();
    if (this.#posts !== undefined) {
      await sayFarewell({ ...this.#parts, ...this.#posts, farewellMs: HTTP_TIMING.farewell }, false);
    }
    this.#destroy();
    this.#delivery.closed();
  }

  #destroy(): void {
    this.#state = 'closed';
    this.#held = undefined;
    this.#stopStream();
    this.#stream.destroy();
    this.#posts?.wire.destroy();
  }
}
