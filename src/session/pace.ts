import type { Cancel, Clock } from '../ports/clock.ts';

/**
 * Lets one session hear of a resource once in so many milliseconds: at once where it heard nothing for that long, else when
 * the time is over. So the last of what was heard in a burst is always followed by word of it. Keys are what one client
 * subscribed to, so that its limit is theirs.
 */
export class Pace {
  private readonly ms: number;
  private readonly clock: Clock;
  private readonly tell: (key: string) => void;
  /** Monotonic time of the last word of each key, newest last. */
  private readonly told = new Map<string, number>();
  private readonly late = new Map<string, Cancel>();

  constructor(ms: number, clock: Clock, tell: (key: string) => void) {
    this.ms = ms;
    this.clock = clock;
    this.tell = tell;
  }

  heard(key: string): void {
    if (this.late.has(key)) return;
    const now = this.clock.elapsed();
    this.forgetBefore(now - this.ms);
    const last = this.told.get(key);
    if (last === undefined) this.say(key, now);
    else
      this.late.set(
        key,
        this.clock.after(last + this.ms - now, () => this.say(key, this.clock.elapsed())),
      );
  }

  close(): void {
    for (const cancel of this.late.values()) cancel();
    this.late.clear();
    this.told.clear();
  }

  private say(key: string, now: number): void {
    this.late.delete(key);
    this.told.delete(key);
    this.told.set(key, now);
    this.tell(key);
  }

  private forgetBefore(time: number): void {
    for (const [key, at] of this.told) {
      if (at > time) return;
      this.told.delete(key);
    }
  }
}
