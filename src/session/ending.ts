import type { Connection } from '../ports/connection.ts';
import { errorText } from '../protocol/compose.ts';
import { Fault, faultError, INVALID_REQUEST, type WireError } from '../protocol/errors.ts';
import type { InFlight } from './in-flight.ts';

const EXPIRED = { code: INVALID_REQUEST, message: 'The token has expired' };
/** The shortest hint to a client that is to come back, and the longest is twice that: those that went together do not come together. */
const RECONNECT_MS = 1000;

export interface EndingDeps {
  /** Ends what the client listens to; resolves when it has been told. Never rejects. */
  readonly endListens: () => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** Why a session takes no more requests, and its close as soon as nothing is in flight. */
export class Ending {
  private readonly connection: Connection;
  private readonly inFlight: InFlight;
  private readonly deps: EndingDeps;
  private readonly retryMs: number;
  private draining = false;
  private leaving = false;
  private hasLeft = false;
  private expired = false;
  private isOverdue = false;

  constructor(connection: Connection, inFlight: InFlight, deps: EndingDeps) {
    this.connection = connection;
    this.inFlight = inFlight;
    this.deps = deps;
    this.retryMs = Math.ceil(RECONNECT_MS * (1 + deps.random()));
  }

  /** What a request of any kind is refused with. */
  get refusesAll(): WireError | undefined {
    return this.expired ? EXPIRED : undefined;
  }

  /** What a request that may take time is refused with. */
  get refusesWork(): WireError | undefined {
    return this.draining ? faultError(new Fault('draining', { retryAfterMs: this.retryMs })) : undefined;
  }

  /** The time to open a session is over. One being opened may still be; if it fails, `stillNew` ends it. */
  overdue(isNew: boolean): void {
    this.isOverdue = true;
    if (isNew) this.stillNew();
  }

  /** There is no session, or not any more. */
  stillNew(): void {
    if (this.isOverdue) this.connection.close('nothing_opened');
  }

  /** From now on requests that may take time are refused, and the socket closes as soon as nothing is in flight and the end of its listens is sent. */
  drain(): void {
    this.draining = true;
    if (this.leaving) return;
    this.leaving = true;
    void this.deps.endListens().then(() => {
      this.hasLeft = true;
      this.whenIdle();
    });
  }

  expire(): void {
    this.expired = true;
    this.whenIdle();
  }

  /** A fresh token has come in time. */
  renewed(): void {
    this.expired = false;
  }

  /** The token's grace is over. */
  graceOver(): void {
    this.giveUp(new Fault('timeout'));
    this.connection.close('unauthenticated');
  }

  /** The time that calls in flight have while the gateway shuts down is over. */
  drainOver(): void {
    this.draining = true;
    this.giveUp(new Fault('draining', { retryAfterMs: this.retryMs }));
    void this.deps.endListens().then(() => this.connection.close('draining', this.retryMs));
  }

  /** What is still in flight ends in this error. */
  private giveUp(fault: Fault): void {
    const error = faultError(fault);
    this.inFlight.cancelAll((id) => this.connection.send(errorText(id, error), 'answer'));
  }

  /** After anything that was in flight has ended. */
  whenIdle(): void {
    if (this.inFlight.size > 0) return;
    if (this.hasLeft) this.connection.close('draining', this.retryMs);
    else if (this.expired) this.connection.close('unauthenticated');
  }
}
