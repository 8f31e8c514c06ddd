import type { Log } from '../ports/log.ts';
import type { LeasedCall } from './leased-call.ts';

/** From here on a call that waits for its client may have to make room for another. Milliseconds. */
const GIVEN_UP_MS = 60_000;
/** Calls that ended while their client was away, and characters of what they ended with. One of any size is kept. */
const ENDED_AT_MOST = 4;
const HELD_AT_MOST = 16 * 1024 * 1024;

/** The calls of one modern client that wait for it to send their request again, by the key their state holds. */
export class Parked {
  private readonly log: Log;
  private readonly waiting = new Map<string, LeasedCall>();
  private last = 0;

  constructor(log: Log) {
    this.log = log;
  }

  get size(): number {
    return this.waiting.size;
  }

  get(key: string): LeasedCall | undefined {
    return this.waiting.get(key);
  }

  /** Returns its key, which no other call ever has. */
  add(call: LeasedCall): string {
    this.last += 1;
    this.waiting.set(String(this.last), call);
    return String(this.last);
  }

  remove(call: LeasedCall): void {
    for (const [key, waiting] of this.waiting) if (waiting === call) this.waiting.delete(key);
  }

  /**
   * A client that has given a call up does not say so: where all links to an upstream are lent, the call that has waited
   * longest for it goes. False where none has waited for long.
   */
  makeRoom(upstream: string): boolean {
    const onLinks = [...this.waiting.values()].filter((call) => call.upstream === upstream && !call.hasEnded);
    const [longest] = onLinks.sort((a, b) => b.waited - a.waited);
    if (longest === undefined || longest.waited < GIVEN_UP_MS) return false;
    this.drop(longest);
    return true;
  }

  /** After one more has ended unheard: the first of those that are too many, or too much, go. */
  trim(): void {
    const ended = [...this.waiting.values()].filter((call) => call.hasEnded);
    let held = ended.reduce((sum, call) => sum + call.held, 0);
    while (ended.length > 1 && (ended.length > ENDED_AT_MOST || held > HELD_AT_MOST)) {
      const oldest = ended.shift();
      held -= oldest?.held ?? 0;
      if (oldest !== undefined) this.drop(oldest);
    }
  }

  close(): void {
    for (const call of [...this.waiting.values()]) call.cancel();
  }

  private drop(call: LeasedCall): void {
    this.log.info('parked_call_displaced', { upstream: call.upstream });
    call.cancel();
  }
}
