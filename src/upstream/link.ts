import type { Link, LinkEvents, Outgoing, Peer, Relayed, Reply } from '../ports/link.ts';
import type { ChannelFailure, Receiver } from '../ports/transport.ts';
import { idField, type Notification, type Request, type Response, readMessage } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { Fault } from '../protocol/errors.ts';
import type { Dialect } from './dialect.ts';
import { HandshakeDialect } from './handshake-dialect.ts';
import { LinkLine } from './line.ts';
import type { LinkDeps, LinkOptions, Opening } from './link-options.ts';
import { aboutOutgoing } from './link-text.ts';
import { ModernDialect } from './modern-dialect.ts';
import { type TimeLimit, timeLimit } from './time-limit.ts';
import { unlessAborted } from './unless-aborted.ts';

/**
 * Dials, opens in one era and returns a live link; rejects with the cause when that fails, time is over or the signal
 * aborts, leaving nothing behind.
 */
export async function openLink(
  options: LinkOptions,
  deps: LinkDeps,
  events: LinkEvents,
  opening: Opening,
): Promise<Link> {
  const link = new TextLink(options, deps, events, opening.era);
  await link.open(opening);
  return link;
}

class TextLink implements Link, Receiver {
  readonly upstream: string;
  readonly isolation: 'session' | 'shared';
  peer: Peer;
  private readonly options: LinkOptions;
  private readonly deps: LinkDeps;
  private readonly events: LinkEvents;
  private readonly line: LinkLine;
  private readonly dialect: Dialect;
  /** Set while paused. */
  private goOn: (() => void) | undefined;

  constructor(options: LinkOptions, deps: LinkDeps, events: LinkEvents, era: Era) {
    this.options = options;
    this.deps = deps;
    this.events = events;
    this.line = new LinkLine({
      ...deps,
      timeout: options.call.idle,
      maxBacklog: options.maxBacklog,
      own: (id, method, params) => this.dialect.own(id, method, params),
      fail: () => void this.close(),
    });
    this.dialect =
      era === 'modern'
        ? new ModernDialect(this.line, options, events, { ...deps, patience: options.call.idle })
        : new HandshakeDialect(this.line, options, events);
    this.peer = { era, protocolVersion: '', capabilities: {}, instructions: undefined };
    this.upstream = options.upstream;
    this.isolation = options.isolation;
  }

  get mirrors(): boolean {
    return this.line.channel?.mirrors === true;
  }

  get inFlight(): number {
    return this.line.calls;
  }

  get backlog(): number {
    return this.line.backlog;
  }

  get untaken(): number {
    return this.line.channel?.untaken ?? this.line.backlog;
  }

  async open({ within, over, signal }: Opening): Promise<void> {
    const { line } = this;
    const limit = timeLimit(this.deps.clock, within, over, signal, () => void line.channel?.close());
    try {
      await this.greet(limit);
      this.goLive();
    } catch (error) {
      this.end();
      await line.channel?.close();
      throw limit.signal.aborted ? limit.signal.reason : (line.cause ?? error);
    } finally {
      limit.end();
    }
  }

  ask(method: string, params?: string, timeoutMs?: number): Promise<string> {
    return this.line.ask(method, params, timeoutMs);
  }

  relay(outgoing: Outgoing, reply: Reply): Relayed {
    const { line } = this;
    const sentAt = this.deps.clock.elapsed();
    if (line.calls >= this.options.concurrency || line.clogged) {
      queueMicrotask(() => reply.failed(new Fault('at_capacity', { retryAfterMs: 1000 }), false));
      return { sentAt, cancel: () => {} };
    }
    const id = line.pending.add(reply, this.options.call);
    line.transmit(id, this.dialect.relayed(outgoing, id), aboutOutgoing(outgoing));
    return { sentAt, cancel: (notification) => line.cancel(id, notification) };
  }

  notify(text: string): void {
    if (this.line.state === 'live') this.dialect.notify(text);
  }

  subscribe(uri: string): Promise<void> {
    return this.dialect.subscribe(uri);
  }

  unsubscribe(uri: string): Promise<void> {
    return this.dialect.unsubscribe(uri);
  }

  setLevel(level: string): Promise<void> {
    return this.dialect.setLevel(level);
  }

  pause(): void {
    if (this.goOn !== undefined || this.line.state === 'closed') return;
    this.goOn = this.line.hold();
    this.line.channel?.pause();
  }

  /** A channel that is being closed ends as it is, and tells nothing more. */
  resume(): void {
    if (this.goOn === undefined) return;
    this.goOn();
    this.goOn = undefined;
    if (this.line.state !== 'closed') this.line.channel?.resume();
  }

  async close(): Promise<void> {
    const { channel } = this.line;
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

  failed(id: number, failure: ChannelFailure): void {
    const again = failure.sessionGone === true;
    if (again && this.line.state === 'live') {
      this.line.state = 'retired';
      this.events.closed(failure.cause, true);
    }
    this.line.pending.take(id)?.failed(new Fault(failure.reason, { cause: failure.cause }), again);
  }

  closed(cause?: Error): void {
    this.line.cause ??= cause;
    this.end();
  }

  private async greet({ signal, lift }: TimeLimit): Promise<void> {
    signal.throwIfAborted();
    this.line.channel = await unlessAborted(this.deps.dial(this, signal, this.peer.era), signal);
    signal.throwIfAborted();
    this.peer = await this.dialect.open();
    lift();
    await this.dialect.ready();
  }

  private goLive(): void {
    if (this.line.state === 'closed') throw this.line.cause ?? new Error('closed while opening');
    this.line.state = 'live';
  }

  private end(): void {
    const { line } = this;
    if (line.state === 'closed' && line.pending.size === 0) return;
    const wasLive = line.state === 'live';
    line.state = 'closed';
    this.dialect.close();
    line.pending.failAll(new Fault('upstream_closed', { cause: line.cause }));
    if (wasLive) this.events.closed(line.cause, false);
  }

  private read(text: string): void {
    const receivedAt = this.deps.clock.elapsed();
    const message = readMessage(text, this.options.maxDepth);
    if (message.kind === 'response') this.response(message, receivedAt);
    else if (message.kind === 'notification') this.notification(message);
    else if (message.kind === 'request') this.request(message);
    else this.unreadable(message.id, message.problem);
  }

  private response(response: Response, receivedAt: number): void {
    const { line } = this;
    const pending = line.pending.take(response.id);
    if (pending === undefined) return line.unexpected(line.wasGiven(response.id) ? 'late' : 'unknown');
    const disowned = line.state === 'live' ? this.dialect.disowned(response) : undefined;
    if (disowned !== undefined) return pending.failed(disowned, false);
    try {
      pending.answered(response, receivedAt);
    } catch (cause) {
      this.deps.log.error('upstream_message_failed', { err: cause });
      pending.failed(new Fault('internal', { cause }), false);
    }
  }

  private request(request: Request): void {
    if (this.line.clogged) this.line.unexpected('unknown');
    else this.dialect.asked(request);
  }

  private notification(notification: Notification): void {
    if (notification.method === 'notifications/progress') this.progress(notification);
    else this.dialect.heard(notification);
  }

  private progress(notification: Notification): void {
    const pending = this.line.pending.touch(idField(notification.text, notification.params, 'progressToken'));
    if (pending === undefined) this.line.unexpected('late');
    else pending.progress(notification);
  }

  /** JSON-RPC that breaks a forwarding rule fails the call it answers; what is not JSON-RPC is noise. */
  private unreadable(id: unknown, problem: string): void {
    const pending = this.line.pending.take(id);
    if (pending === undefined) return this.line.unexpected('noise');
    this.deps.log.warn('upstream_answer_refused', { upstream: this.upstream, problem });
    pending.failed(new Fault('too_large', { cause: new Error(problem) }), false);
  }
}
