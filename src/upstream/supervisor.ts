import type { Cancel, Clock } from '../ports/clock.ts';
import type { Link, LinkEvents } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { Fault } from '../protocol/errors.ts';
import { backoff } from './backoff.ts';

export interface SupervisorDeps {
  readonly upstream: string;
  readonly open: (events: LinkEvents, signal: AbortSignal) => Promise<Link>;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly random: () => number;
}

export interface SupervisorEvents extends Omit<LinkEvents, 'closed'> {
  up(link: Link): void;
  down(): void;
}

/** A link that lived this long was no crash at start: it is replaced without waiting. Milliseconds. */
const STABLE_MS = 10_000;
/** The same for a peer that forgot the session; more than so many in a row shorter than that, and it forgets each one. */
const AGAIN_MS = 100;
const MAX_HURRIED = 3;

/**
 * Keeps one link to an upstream alive: the catalogue link, which is also the shared one. Reconnects for ever with
 * jittered back-off, one attempt at a time; closing it ends the attempt under way as well.
 */
export class Supervisor {
  private readonly deps: SupervisorDeps;
  private readonly events: SupervisorEvents;
  private live: Link | undefined;
  private attempt: Promise<Link> | undefined;
  private failures = 0;
  private retryAt = 0;
  private upAt = 0;
  private stopRetry: Cancel = () => {};
  private everUp = false;
  /** Links in a row that did not live long. */
  private hurried = 0;
  private readonly closing = new AbortController();

  constructor(deps: SupervisorDeps, events: SupervisorEvents) {
    this.deps = deps;
    this.events = events;
  }

  get link(): Link | undefined {
    return this.live;
  }

  start(): void {
    this.connect();
  }

  /** The live link, the attempt under way, or a Fault that says when the next attempt is. */
  acquire(): Link | Promise<Link> {
    if (this.live !== undefined) return this.live;
    if (this.attempt !== undefined) return this.attempt.catch((cause) => Promise.reject(this.unavailable(cause)));
    return Promise.reject(this.unavailable());
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('the gateway is closing'));
    this.stopRetry();
    await this.attempt?.catch(() => {});
    await this.live?.close();
  }

  private connect(): void {
    const events: LinkEvents = {
      listChanged: (kind) => this.events.listChanged(kind),
      updated: (uri, notification) => this.events.updated(uri, notification),
      logged: (notification) => this.events.logged(notification),
      closed: (cause, again) => this.lost(cause, again),
    };
    this.attempt = this.deps.open(events, this.closing.signal);
    this.attempt.then(
      (link) => this.connected(link),
      (cause: unknown) => this.failed(cause),
    );
  }

  private connected(link: Link): void {
    this.attempt = undefined;
    this.live = link;
    this.upAt = this.deps.clock.elapsed();
    if (this.closing.signal.aborted) return;
    if (this.everUp) this.deps.meter.counter('upstream_restarts_total', { upstream: this.deps.upstream }).add();
    this.everUp = true;
    this.up(1);
    this.deps.log.info('upstream_up', { revision: link.peer.protocolVersion });
    this.events.up(link);
  }

  private failed(cause: unknown): void {
    this.attempt = undefined;
    this.failures += 1;
    if (this.closing.signal.aborted) return;
    this.up(0);
    this.deps.log.warn('upstream_unavailable', { failures: this.failures, err: cause });
    this.events.down();
    this.retry();
  }

  /** A link that was good for a while is replaced at once, and so is one whose peer forgot it; callers wait for that attempt. */
  private lost(cause: Error | undefined, again: boolean): void {
    const lived = this.deps.clock.elapsed() - this.upAt;
    this.live = undefined;
    if (this.closing.signal.aborted) return;
    this.up(0);
    this.deps.log.warn('upstream_down', { err: cause });
    this.failures = lived < STABLE_MS ? this.failures + 1 : 0;
    const isShort = lived < (again ? AGAIN_MS : STABLE_MS);
    this.hurried = isShort ? this.hurried + 1 : 0;
    if (!isShort || (again && this.hurried <= MAX_HURRIED)) this.connect();
    else this.retry();
    this.events.down();
  }

  private retry(): void {
    const { clock, random } = this.deps;
    const wait = backoff(this.failures, random());
    this.retryAt = clock.elapsed() + wait;
    this.stopRetry = clock.after(wait, () => this.connect());
  }

  private unavailable(cause?: unknown): Fault {
    const retryAfterMs = Math.max(0, this.retryAt - this.deps.clock.elapsed());
    return new Fault('upstream_unavailable', { cause, retryAfterMs });
  }

  private up(value: 0 | 1): void {
    this.deps.meter.gauge('upstream_up', { upstream: this.deps.upstream }).set(value);
  }
}
