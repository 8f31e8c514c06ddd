import type { Log } from '../ports/log.ts';
import type { About, Channel, Receiver } from '../ports/transport.ts';
import { MODERN_VERSIONS } from '../protocol/era.ts';
import { HttpCalls } from './http-calls.ts';
import { HttpDelivery } from './http-delivery.ts';
import { type CallHeaders, HttpHeaders } from './http-headers.ts';
import { mirroredHeaders } from './http-mirrored.ts';
import { openParts, type StreamableHttpDeps, type StreamableHttpOptions } from './http-opening.ts';
import type { Wire } from './http-wire.ts';

/**
 * A channel over Streamable HTTP of the modern era (MCP 2026-07-28, transports): every request is a POST of its own,
 * without a session, and a stream cut before its answer is not resumed. `subscriptions/listen` is such a request; its
 * stream stays open without a limit. Forgetting a request closes its stream, which is how this transport cancels. When
 * no connection comes about, the channel closes; any other failure is one request's.
 */
export class StatelessHttp implements Channel {
  readonly mirrors = true;
  readonly #wire: Wire;
  readonly #log: Log;
  readonly #headers: HttpHeaders;
  readonly #delivery: HttpDelivery;
  readonly #calls: HttpCalls;
  #ended = false;

  /** Throws a TypeError that names what is wrong with the URL or a configured header. */
  constructor(options: StreamableHttpOptions, deps: StreamableHttpDeps, receiver: Receiver) {
    const parts = openParts(options, deps);
    this.#wire = parts.wire;
    this.#log = parts.log;
    this.#headers = new HttpHeaders(options.headers);
    this.#headers.useVersion(MODERN_VERSIONS[0]);
    this.#delivery = new HttpDelivery(receiver);
    this.#calls = new HttpCalls(parts, this.#delivery);
  }

  /** What has no id is taken and not posted: this era's clients have no notification to send here but cancellation. */
  send(message: string, id?: number, about?: About): boolean {
    if (this.#ended) return false;
    if (id === undefined) this.#drop(message);
    else this.#calls.start({ id, message, headers: this.#headersOf(about) }, { lost: (_, cause) => this.#end(cause) });
    return true;
  }

  forget(id: number, lingerMs?: number): void {
    this.#calls.abort(id, lingerMs);
  }

  get backlog(): number {
    return this.#wire.backlog;
  }

  get unconnected(): number {
    return this.#wire.unconnected;
  }

  pause(): void {
    this.#delivery.pause();
    this.#wire.pause();
  }

  resume(): void {
    this.#delivery.resume();
    if (!this.#delivery.paused) this.#wire.resume();
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    this.#delivery.silence();
    this.#stop();
    this.#delivery.closed();
  }

  #headersOf(about: About | undefined): CallHeaders {
    return { post: () => ({ ...this.#headers.post(), ...mirroredHeaders(about) }) };
  }

  #drop(message: string): void {
    if (!message.includes('"notifications/cancelled"')) this.#log.warn('upstream_notice_dropped');
  }

  /** Nobody is there: what waits for an answer fails, then the owner hears why. */
  #end(cause: Error): void {
    if (this.#ended) return;
    for (const id of this.#stop()) this.#delivery.failed(id, { reason: 'upstream_closed', cause });
    this.#delivery.closed(cause);
  }

  /** Ends all that can still say something; returns the ids of the requests under way. */
  #stop(): number[] {
    this.#ended = true;
    const ids = this.#calls.abortAll();
    this.#wire.destroy();
    return ids;
  }
}
