import type { Connection } from '../ports/connection.ts';
import { errorText } from '../protocol/compose.ts';
import { Fault, faultError, INVALID_REQUEST, type WireError } from '../protocol/errors.ts';
import type { InFlight } from './in-flight.ts';

const EXPIRED = { code: INVALID_REQUEST, message: 'The token has expired' };
const RECONNECT_MS = 1000;

/** Why a session takes no more requests, and its close as soon as nothing is in flight. */
export class Ending {
  private readonly connection: Connection;
  private readonly inFlight: InFlight;
  private draining = false;
  private expired = false;
  private isOverdue = false;

  constructor(connection: Connection, inFlight: InFlight) {
    this.connection = connection;
    this.inFlight = inFlight;
  }

  /** What a request of any kind is refused with. */
  get refusesAll(): WireError | undefined {
    return this.expired ? EXPIRED : undefined;
  }

  /** What a request that may take time is refused with. */
  get refusesWork(): WireError | undefined {
    return this.draining ? faultError(new Fault('draining', { retryAfterMs: RECONNECT_MS })) : undefined;
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

  drain(): void {
    this.draining = true;
    this.whenIdle();
  }

  expire(): void {
    this.expired = true;
    this.whenIdle();
  }

  /** The token's grace is over. */
  graceOver(): void {
    this.giveUp(new Fault('timeout'));
    this.connection.close('unauthenticated');
  }

  /** The time that calls in flight have while the gateway shuts down is over. */
  drainOver(): void {
    this.giveUp(new Fault('draining', { retryAfterMs: RECONNECT_MS }));
    this.connection.close('draining', RECONNECT_MS);
  }

  /** What is still in flight ends in this error. */
  private giveUp(fault: Fault): void {
    const error = faultError(fault);
    this.inFlight.cancelAll((id) => this.connection.send(errorText(id, error), 'answer'));
  }

  /** After anything that was in flight has ended. */
  whenIdle(): void {
    if (this.inFlight.size > 0) return;
    if (this.draining) this.connection.close('draining', RECONNECT_MS);
    else if (this.expired) this.connection.close('unauthenticated');
  }
}
