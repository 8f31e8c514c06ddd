import type { Clock } from '../ports/clock.ts';
import type { Link, LinkEvents, Outgoing, Peer, Relayed, Reply } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { Channel, ChannelFailure, Dial, Receiver } from '../ports/transport.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { notificationText, requestText, resultText } from '../protocol/compose.ts';
import { idField, type Notification, type Request, type Response, readMessage } from '../protocol/envelope.ts';
import { Fault } from '../protocol/errors.ts';
import { rewriteNotification } from '../protocol/rewrite.ts';
import type { DeadlineLimits } from './deadline.ts';
import { handshake } from './handshake.ts';
import { tellEvents } from './link-events.ts';
import { outgoingText, settle } from './link-text.ts';
import { PendingTable } from './pending.ts';
import { Questions } from './questions.ts';
import { timeLimit } from './time-limit.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface LinkOptions {
  readonly upstream: string;
  readonly isolation: 'session' | 'shared';
  /** What is declared to the upstream. */
  readonly capabilities: ClientCapabilities;
  /** Milliseconds for connect and initialize together. */
  readonly startTimeout: number;
  /** Limits of a relayed call. */
  readonly call: DeadlineLimits;
  /** Requests in flight on this link at most. */
  readonly concurrency: number;
  readonly maxDepth: number;
  /** What may wait for an upstream that does not read, in bytes; beyond it calls are refused. */
  readonly maxBacklog: number;
}

export interface LinkDeps {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/**
 * Dials, initialises and returns a live link; rejects with the cause when that fails, `startTimeout` passes or `signal`
 * aborts, leaving nothing behind.
 */
export async function openLink(
  options: LinkOptions,
  deps: LinkDeps,
  events: LinkEvents,
  signal?: AbortSignal,
): Promise<Link> {
  const link = new TextLink(options, deps, events);
  await link.open(signal);
  return link;
}

class TextLink implements Link, Receiver {
  readonly upstream: string;
  readonly isolation: 'session' | 'shared';
  peer: Peer = { era: 'handshake', protocolVersion: '', capabilities: {}, instructions: undefined };
  private readonly options: LinkOptions;
  private readonly deps: LinkDeps;
  private readonly events: LinkEvents;
  private readonly pending: PendingTable;
  private readonly questions: Questions;
  private channel: Channel | undefined;
  /** Retired: replaced already, only waiting for what its channel still has to say of the calls on it. */
  private state: 'opening' | 'live' | 'retired' | 'closed' = 'opening';
  private cause: Error | undefined;

  constructor(options: LinkOptions, deps: LinkDeps, events: LinkEvents) {
    this.options = options;
    this.deps = deps;
    this.events = events;
    this.pending = new PendingTable(deps.clock, (id) => this.expire(id));
    this.questions = new Questions({
      asked: events.asked,
      send: (text) => void this.channel?.send(text),
      hold: () => this.pending.hold(),
    });
    this.upstream = options.upstream;
    this.isolation = options.isolation;
  }

  get inFlight(): number {
    return this.pending.size;
  }

  async open(signal?: AbortSignal): Promise<void> {
    const { clock, dial } = this.deps;
    const { startTimeout, capabilities } = this.options;
    const limit = timeLimit(clock, startTimeout, signal, () => void this.channel?.close());
    try {
      limit.signal.throwIfAborted();
      this.channel = await unlessAborted(dial(this, limit.signal), limit.signal);
      limit.signal.throwIfAborted();
      const ask = (method: string, params: string) => this.ask(method, params, startTimeout);
      this.peer = await handshake(ask, (text) => this.channel?.send(text) ?? false, capabilities);
      if (this.state === 'closed') throw this.cause ?? new Error('closed while opening');
      this.state = 'live';
    } catch (error) {
      this.state = 'closed';
      await this.channel?.close();
      throw limit.signal.aborted ? limit.signal.reason : (this.cause ?? error);
    } finally {
      limit.end();
    }
  }

  ask(method: string, params?: string, timeoutMs = this.options.call.idle): Promise<string> {
    return new Promise((resolve, reject) => {
      const asking = {
        answered: (response: Response) => settle(response, resolve, reject),
        failed: reject,
        progress: () => {},
      };
      const id = this.pending.add(asking, { idle: timeoutMs, hard: timeoutMs });
      this.transmit(id, requestText(id, method, params));
    });
  }

  relay(outgoing: Outgoing, reply: Reply): Relayed {
    const sentAt = this.deps.clock.elapsed();
    if (this.pending.size >= this.options.concurrency || this.clogged) {
      queueMicrotask(() => reply.failed(new Fault('at_capacity', { retryAfterMs: 1000 }), false));
      return { sentAt, cancel: () => {} };
    }
    const id = this.pending.add(reply, this.options.call);
    this.transmit(id, outgoingText(outgoing, id));
    return { sentAt, cancel: (notification) => this.cancel(id, notification) };
  }

  notify(text: string): void {
    if (this.state === 'live') this.channel?.send(text);
  }

  async subscribe(uri: string): Promise<void> {
    await this.ask('resources/subscribe', JSON.stringify({ uri }));
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.ask('resources/unsubscribe', JSON.stringify({ uri }));
  }

  async setLevel(level: string): Promise<void> {
    if (this.peer.capabilities.logging === undefined) return;
    await this.ask('logging/setLevel', JSON.stringify({ level }), this.options.startTimeout);
  }

  async close(): Promise<void> {
    const { channel } = this;
    this.end();
    await channel?.close();
  }

  message(text: string): void {
    try {
      this.read(text);
    } catch (err) {
      this.deps.log.error('upstream_message_failed', { err });
    }
  }

  private read(text: string): void {
    const receivedAt = this.deps.clock.elapsed();
    const message = readMessage(text, this.options.maxDepth);
    if (message.kind === 'response') this.response(message, receivedAt);
    else if (message.kind === 'notification') this.notification(message);
    else if (message.kind === 'request') this.request(message);
    else this.unreadable(message.id, message.problem);
  }

  failed(id: number, failure: ChannelFailure): void {
    const again = failure.sessionGone === true;
    if (again && this.state === 'live') {
      this.state = 'retired';
      this.events.closed(failure.cause, true);
    }
    this.pending.take(id)?.failed(new Fault(failure.reason, { cause: failure.cause }), again);
  }

  closed(cause?: Error): void {
    this.cause ??= cause;
    this.end();
  }

  private end(): void {
    if (this.state === 'closed' && this.pending.size === 0) return;
    const wasLive = this.state === 'live';
    this.state = 'closed';
    this.pending.failAll(new Fault('upstream_closed', { cause: this.cause }));
    this.questions.close();
    if (wasLive) this.events.closed(this.cause, false);
  }

  /** The peer does not read: nothing more is handed to it but cancellations. */
  private get clogged(): boolean {
    return (this.channel?.backlog ?? 0) > this.options.maxBacklog;
  }

  private transmit(id: number, text: string): void {
    if ((this.state === 'opening' || this.state === 'live') && this.channel?.send(text, id) === true) return;
    queueMicrotask(() => this.pending.take(id)?.failed(new Fault('upstream_closed', { cause: this.cause }), true));
  }

  private cancel(id: number, notification?: Notification): void {
    if (this.pending.take(id) === undefined) return;
    this.tellCancelled(id, notification);
  }

  private expire(id: number): void {
    const pending = this.pending.take(id);
    if (pending === undefined) return;
    this.tellCancelled(id);
    pending.failed(new Fault('timeout'), false);
  }

  private tellCancelled(id: number, notification?: Notification): void {
    if (this.state !== 'live') return;
    const text =
      notification === undefined
        ? notificationText('notifications/cancelled', `{"requestId":${id}}`)
        : rewriteNotification(notification, { requestId: id });
    this.channel?.send(text);
    this.channel?.forget?.(id);
  }

  private response(response: Response, receivedAt: number): void {
    const pending = this.pending.take(response.id);
    if (pending !== undefined) pending.answered(response, receivedAt);
    else this.unexpected(this.pending.wasGiven(response.id) ? 'late' : 'unknown');
  }

  private request(request: Request): void {
    if (this.clogged) return this.unexpected('unknown');
    if (request.method === 'ping') this.channel?.send(resultText(request.id, '{}'));
    else this.questions.ask(request);
  }

  private notification(notification: Notification): void {
    if (notification.method === 'notifications/progress') this.progress(notification);
    else if (notification.method === 'notifications/cancelled') this.questions.cancelled(notification);
    else tellEvents(notification, this.events);
  }

  private progress(notification: Notification): void {
    const pending = this.pending.touch(idField(notification.text, notification.params, 'progressToken'));
    if (pending === undefined) this.unexpected('late');
    else pending.progress(notification);
  }

  /** JSON-RPC that breaks a forwarding rule fails the call it answers; what is not JSON-RPC is noise. */
  private unreadable(id: unknown, problem: string): void {
    const pending = this.pending.take(id);
    if (pending === undefined) return this.unexpected('noise');
    this.deps.log.warn('upstream_answer_refused', { upstream: this.upstream, problem });
    pending.failed(new Fault('too_large', { cause: new Error(problem) }), false);
  }

  private unexpected(kind: 'late' | 'unknown' | 'noise'): void {
    this.deps.meter.counter('unexpected_answers_total', { source: 'upstream', kind }).add();
  }
}
