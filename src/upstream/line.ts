import type { Clock } from '../ports/clock.ts';
import type { Meter } from '../ports/meter.ts';
import type { About, Channel } from '../ports/transport.ts';
import { notificationText } from '../protocol/compose.ts';
import type { Notification } from '../protocol/envelope.ts';
import { Fault } from '../protocol/errors.ts';
import { rewriteNotification } from '../protocol/rewrite.ts';
import { type DeadlineLimits, NO_DEADLINE } from './deadline.ts';
import type { Line } from './dialect.ts';
import { settle } from './link-text.ts';
import { type Pending, PendingTable } from './pending.ts';

export interface LineDeps {
  readonly clock: Clock;
  readonly meter: Meter;
  /** Milliseconds for a request of the gateway's own that names no time. */
  readonly timeout: number;
  /** Bytes that may wait for a peer that does not read. */
  readonly maxBacklog: number;
  /** The text of a request of the gateway's own. */
  readonly own: (id: number, method: string, params: string | undefined) => string;
  readonly fail: (cause: Error) => void;
  /** More waits for the peer than is worth no thought. Called often. */
  readonly growing?: () => void;
}

/** What may wait without being looked at, in bytes. */
const SMALL = 16 * 1024;

/** Told once how a request of the gateway's own ended: the JSON text of its result, or why there is none. */
type Settled = (outcome: string | Error) => void;

/** What goes out on one link: requests under its own ids, each with its deadline, and what takes them back. */
export class LinkLine implements Line {
  readonly pending: PendingTable;
  channel: Channel | undefined;
  /** Retired: replaced already, only waiting for what its channel still has to say of the calls on it. */
  state: 'opening' | 'live' | 'retired' | 'closed' = 'opening';
  /** Why the link ended, as far as that is known. */
  cause: Error | undefined;
  private readonly deps: LineDeps;
  /** Requests that stay open and are no calls. */
  private readonly standing = new Set<number>();

  constructor(deps: LineDeps) {
    this.deps = deps;
    this.pending = new PendingTable(deps.clock, (id) => this.expire(id));
  }

  get backlog(): number {
    return this.state === 'closed' ? 0 : (this.channel?.backlog ?? 0);
  }

  /**
   * The peer does not read: nothing more is handed to it but answers to what it asked and cancellations. What waits for
   * a connection says nothing about that.
   */
  get clogged(): boolean {
    return this.backlog - (this.channel?.unconnected ?? 0) > this.deps.maxBacklog;
  }

  get calls(): number {
    return this.pending.size - this.standing.size;
  }

  ask(method: string, params?: string, timeoutMs = this.deps.timeout): Promise<string> {
    return new Promise((resolve, reject) => {
      this.own(method, params, { idle: timeoutMs, hard: timeoutMs }, (outcome) => {
        if (typeof outcome === 'string') resolve(outcome);
        else reject(outcome);
      });
    });
  }

  stand(method: string, params: string, ended: (error?: Error) => void): number {
    const id = this.own(method, params, NO_DEADLINE, (outcome) => {
      this.standing.delete(id);
      if (typeof outcome === 'string') ended();
      else ended(outcome);
    });
    this.standing.add(id);
    return id;
  }

  withdraw(id: number, told?: 'told'): void {
    this.standing.delete(id);
    if (this.pending.take(id) === undefined) return;
    if (told === undefined) this.tellCancelled(id);
    else this.channel?.forget?.(id);
  }

  retire(id: number, lingerMs: number): boolean {
    this.standing.delete(id);
    if (this.pending.take(id) !== undefined) this.tellCancelled(id, undefined, lingerMs);
    return this.channel?.forget !== undefined;
  }

  /** False where it was not taken. */
  send(text: string, id?: number, about?: About): boolean {
    const isTaken = this.channel?.send(text, id, about) === true;
    if (this.backlog > SMALL) this.deps.growing?.();
    return isTaken;
  }

  say(text: string): void {
    if (!this.clogged) this.send(text);
  }

  transmit(id: number, text: string, about: About): void {
    const isOpen = this.state === 'opening' || this.state === 'live';
    if (isOpen && this.send(text, id, about)) return;
    queueMicrotask(() => this.pending.take(id)?.failed(new Fault('upstream_closed', { cause: this.cause }), true));
  }

  /** Takes a call back. `notification` is the caller's own cancellation. */
  cancel(id: number, notification?: Notification): void {
    if (this.pending.take(id) !== undefined) this.tellCancelled(id, notification);
  }

  hold(): () => void {
    return this.pending.hold();
  }

  wasGiven(id: unknown): boolean {
    return this.pending.wasGiven(id);
  }

  unexpected(kind: 'late' | 'unknown' | 'noise'): void {
    this.deps.meter.counter('unexpected_answers_total', { source: 'upstream', kind }).add();
  }

  fail(cause: Error): void {
    this.cause ??= cause;
    this.deps.fail(cause);
  }

  private own(method: string, params: string | undefined, limits: DeadlineLimits, settled: Settled): number {
    const pending: Pending = {
      answered: (response) => settle(response, settled, settled),
      failed: settled,
      progress: () => {},
    };
    const id = this.pending.add(pending, limits);
    this.transmit(id, this.deps.own(id, method, params), { method, name: undefined });
    return id;
  }

  private expire(id: number): void {
    const pending = this.pending.take(id);
    if (pending === undefined) return;
    this.tellCancelled(id);
    pending.failed(new Fault('timeout'), false);
  }

  private tellCancelled(id: number, notification?: Notification, lingerMs?: number): void {
    if (this.state !== 'live') return;
    const text =
      notification === undefined
        ? notificationText('notifications/cancelled', `{"requestId":${id}}`)
        : rewriteNotification(notification, { requestId: id });
    this.send(text);
    this.channel?.forget?.(id, lingerMs);
  }
}
