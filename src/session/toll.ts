import type { Principal } from '../auth/principal.ts';
import type { Connection } from '../ports/connection.ts';
import type { Counters, Meter } from '../ports/meter.ts';
import { errorText } from '../protocol/compose.ts';
import type { Notification, Unreadable } from '../protocol/envelope.ts';
import { Fault, faultError, UNREADABLE, type WireError } from '../protocol/errors.ts';
import type { Held, Rates } from './rates.ts';
import { Recent } from './recent.ts';

export interface TollDeps {
  readonly rates: Rates;
  readonly meter: Meter;
  readonly connection: Pick<Connection, 'send' | 'close'>;
}

/** What a message costs, in requests. */
const COST = { request: 1, other: 0.2, malformed: 5 } as const;

/** So much that is malformed on one socket within a minute ends it. */
const MALFORMED = { count: 20, withinMs: 60_000 };
/** So many messages over the rate on one socket within ten seconds end it. */
const OVER_RATE = { count: 1000, withinMs: 10_000 };
/** Bounds of the hint to a client that was closed for its rate, in milliseconds. */
const SHORTEST_RETRY = 1000;
const LONGEST_RETRY = 60_000;

/** Dropping these would hang the upstream that waits for the cancellation, or leave the session half open, and nobody would be told. */
const ALWAYS_TAKEN = new Set(['notifications/cancelled', 'notifications/initialized']);

/**
 * What one socket's messages cost its principal, and what becomes of those that it cannot pay for. Whoever goes on in spite
 * of that, or keeps sending what cannot be read, loses the socket. Times are monotonic milliseconds.
 */
export class Toll {
  private readonly deps: TollDeps;
  private readonly held: Held;
  private readonly malformedOnes = new Recent(MALFORMED.count, MALFORMED.withinMs);
  private readonly overRate = new Recent(OVER_RATE.count, OVER_RATE.withinMs);

  constructor(principal: Principal, deps: TollDeps) {
    this.deps = deps;
    this.held = deps.rates.hold(principal);
  }

  /** What a request is to be refused with, and then counted by `refused`; undefined if it may pass. */
  request(now: number): WireError | undefined {
    const retryAfterMs = this.take(COST.request, now);
    return retryAfterMs === 0 ? undefined : faultError(new Fault('rate_limited', { retryAfterMs }));
  }

  /** False for one that is to be dropped. */
  notification({ method }: Notification, now: number): boolean {
    if (ALWAYS_TAKEN.has(method)) this.charge(now);
    else if (this.take(COST.other, now) > 0) {
      this.refused('notification', now);
      return false;
    }
    return true;
  }

  /** An upstream waits for it: it always passes. */
  response(now: number): void {
    this.charge(now);
  }

  /** Answers what is no message, or no request under an id of its own. */
  malformed(problem: Unreadable['problem'] | 'id_in_flight', now: number): void {
    const { connection } = this.deps;
    if (this.take(COST.malformed, now) > 0) this.refused('malformed', now);
    else connection.send(errorText(null, UNREADABLE[problem]), 'answer');
    if (this.malformedOnes.add(now)) connection.close('malformed');
  }

  /** After the answer, where there is one: this may end the socket. */
  refused(kind: Counters['messages_refused_total']['kind'], now: number): void {
    this.deps.meter.counter('messages_refused_total', { kind }).add();
    this.over(now);
  }

  close(): void {
    this.held.release();
  }

  private take(cost: number, now: number): number {
    return this.held.bucket?.take(cost, now) ?? 0;
  }

  private charge(now: number): void {
    if (this.held.bucket?.charge(COST.other, now) === false) this.over(now);
  }

  private over(now: number): void {
    if (!this.overRate.add(now)) return;
    const untilFull = this.held.bucket?.fullIn(now) ?? 0;
    this.deps.connection.close('too_many', Math.min(Math.max(SHORTEST_RETRY, untilFull), LONGEST_RETRY));
  }
}
