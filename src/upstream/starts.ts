import type { Cancel, Clock } from '../ports/clock.ts';
import { PATIENCE_MS } from './places.ts';

interface Waiter {
  readonly leave: (gotTurn: boolean) => void;
}

const SECOND_MS = 1000;

/**
 * Lets so many start in any one second. Others wait for their turn for up to 3 s, principals one after the other, so that
 * one who starts many delays its own most. (The queue of rate-limiter-flexible has a timer of its own, no way to leave it
 * and one line for all.)
 */
export class Starts {
  private readonly perSecond: number;
  private readonly clock: Clock;
  /** When the last ones started, of those within a second. */
  private recent: number[] = [];
  /** By principal, the one whose turn is next first. No list is empty. */
  private readonly waiting = new Map<string, Waiter[]>();
  private stopTimer: Cancel | undefined;

  constructor(perSecond: number, clock: Clock) {
    this.perSecond = perSecond;
    this.clock = clock;
  }

  /** False when the turn does not come in time, or the signal aborts first. */
  turn(principal: string, signal: AbortSignal): Promise<boolean> {
    if (this.waiting.size === 0 && this.mayStart()) {
      this.recent.push(this.clock.elapsed());
      return Promise.resolve(true);
    }
    if (signal.aborted || !this.hasRoomFor(principal)) return Promise.resolve(false);
    return new Promise((resolve) => {
      const leave = (gotTurn: boolean) => {
        this.withdraw(principal, waiter);
        stopPatience();
        signal.removeEventListener('abort', unwanted);
        resolve(gotTurn);
      };
      const unwanted = () => leave(false);
      const waiter: Waiter = { leave };
      // What is due by then goes first, maybe this one.
      const stopPatience = this.clock.after(PATIENCE_MS, () => {
        this.startDue();
        leave(false);
      });
      signal.addEventListener('abort', unwanted, { once: true });
      this.waiting.set(principal, [...(this.waiting.get(principal) ?? []), waiter]);
      this.watch();
    });
  }

  /** As many wait as can start within their patience. Of more, the last of those who have most waiting goes. */
  private hasRoomFor(principal: string): boolean {
    const lists = [...this.waiting.values()];
    const all = lists.reduce((sum, { length }) => sum + length, 0);
    if (all < (this.perSecond * PATIENCE_MS) / SECOND_MS) return true;
    const longest = lists.reduce((a, b) => (b.length > a.length ? b : a));
    if (longest.length <= (this.waiting.get(principal)?.length ?? 0) + 1) return false;
    longest.at(-1)?.leave(false);
    return true;
  }

  private mayStart(): boolean {
    const since = this.clock.elapsed() - SECOND_MS;
    this.recent = this.recent.filter((at) => at > since);
    return this.recent.length < this.perSecond;
  }

  private watch(): void {
    const [oldest] = this.recent;
    if (this.stopTimer !== undefined || oldest === undefined) return;
    // No sooner than in a millisecond: a timer may be early by a fraction.
    const wait = Math.max(1, oldest + SECOND_MS - this.clock.elapsed());
    this.stopTimer = this.clock.after(wait, () => {
      this.stopTimer = undefined;
      this.startDue();
      if (this.waiting.size > 0) this.watch();
    });
  }

  private startDue(): void {
    while (this.mayStart()) {
      const [next] = this.waiting;
      if (next === undefined) return;
      const [principal, [first]] = next;
      this.recent.push(this.clock.elapsed());
      first?.leave(true);
      const rest = this.waiting.get(principal);
      this.waiting.delete(principal);
      if (rest !== undefined) this.waiting.set(principal, rest);
    }
  }

  private withdraw(principal: string, waiter: Waiter): void {
    const rest = (this.waiting.get(principal) ?? []).filter((other) => other !== waiter);
    if (rest.length > 0) this.waiting.set(principal, rest);
    else this.waiting.delete(principal);
    if (this.waiting.size > 0) return;
    this.stopTimer?.();
    this.stopTimer = undefined;
  }
}
