import type { Cancel, Clock } from '../ports/clock.ts';
import { waves } from './waves.ts';

/** A session as it is seen by a gateway that shuts down. */
export interface Drainable {
  /** Whether a request has no answer yet. */
  readonly isBusy: boolean;
  /** Takes no new requests, and closes as soon as nothing is in flight. Until then it goes on as usual. */
  drain(): void;
  /** Ends what is still in flight in an error, then the socket. */
  drainOver(): void;
}

export interface DrainParts {
  readonly sessions: Iterable<Drainable> & { readonly size: number; whenEmpty(task: () => void): Cancel };
  readonly clock: Clock;
  readonly timing: DrainTiming;
}

/** All in milliseconds. */
export interface DrainTiming {
  /** Everything goes on as usual, but for readiness. */
  readonly notice: number;
  /** What calls in flight may still take after a socket's turn. */
  readonly inFlight: number;
  /** Over how long closes are spread, at most. */
  readonly waves: number;
}

/** After a close frame a socket is terminated within a second; the rest is for its `close` event. */
const CLOSING_MS = 1500;

/**
 * The way a gateway's sockets go when it shuts down: notice, then each in its turn, idle ones first. A busy one goes when
 * its calls have ended, and in any case when the time they have after its turn is over. Until its turn a socket is served
 * as usual: clients at work would otherwise all be refused, and come back, at once. Takes at most the sum of its times
 * and CLOSING_MS; without sockets nothing but the notice.
 */
export class Drain {
  private readonly parts: DrainParts;
  private told = false;
  private refusing = false;
  private forced = false;
  private timers: Cancel[] = [];
  private wake = () => {};

  constructor(parts: DrainParts) {
    this.parts = parts;
  }

  /** No traffic is to be sent here any more. */
  get isTold(): boolean {
    return this.told;
  }

  /** Nothing new is let in. */
  get isRefusing(): boolean {
    return this.refusing;
  }

  /** Resolves when no socket is left, or those that are left do not close. Once. */
  async run(): Promise<void> {
    const { sessions, timing } = this.parts;
    this.told = true;
    if (timing.notice > 0) await this.pause(timing.notice);
    this.refusing = true;
    await this.emptied(this.inTurns() + timing.inFlight);
    this.stopTimers();
    this.forced = true;
    for (const session of [...sessions]) session.drainOver();
    await this.emptied(CLOSING_MS, true);
  }

  /** A session that was let in just before nothing was: it goes at once. */
  joined(session: Drainable): void {
    if (this.refusing) session.drain();
  }

  /** Nothing is waited for any longer but the closing of sockets, whose calls in flight end in an error now. */
  force(): void {
    if (this.forced) return;
    this.forced = true;
    this.wake();
  }

  /** Returns the milliseconds until the last turn. */
  private inTurns(): number {
    if (this.forced) return 0;
    const { sessions, timing } = this.parts;
    const turns = waves([...sessions], timing.waves);
    for (const { socket, at } of turns) this.at(at, () => this.turnOf(socket));
    return turns.at(-1)?.at ?? 0;
  }

  private turnOf(socket: Drainable): void {
    socket.drain();
    if (socket.isBusy) this.at(this.parts.timing.inFlight, () => socket.drainOver());
  }

  private at(ms: number, task: () => void): void {
    if (ms === 0) task();
    else this.timers.push(this.parts.clock.after(ms, task));
  }

  private stopTimers(): void {
    for (const stop of this.timers.splice(0)) stop();
  }

  /** Resolves when no session is left, or after `ms`; unless it is the end, also when it is forced. */
  private async emptied(ms: number, isEnd = false): Promise<void> {
    if (this.parts.sessions.size === 0) return;
    const stop = this.parts.sessions.whenEmpty(() => this.wake());
    await this.pause(ms, isEnd);
    stop();
  }

  private async pause(ms: number, isEnd = false): Promise<void> {
    if (ms === 0 || (this.forced && !isEnd)) return;
    await new Promise<void>((resolve) => {
      const stop = this.parts.clock.after(ms, resolve);
      this.wake = () => {
        stop();
        resolve();
      };
    });
    this.wake = () => {};
  }
}
