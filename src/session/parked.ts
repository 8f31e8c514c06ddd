import { GIVEN_UP_MS } from '../upstream/spares.ts';
import type { Denial } from './in-flight.ts';
import type { LeasedCall } from './leased-call.ts';
import type { Turn } from './turn.ts';

/** Calls that ended while their client was away, and characters of what they ended with. One of any size is kept. */
const ENDED_AT_MOST = 4;
const HELD_AT_MOST = 16 * 1024 * 1024;

/** The calls of one modern client that wait for it to send their request again, by the key their state holds. */
export class Parked {
  private readonly waiting = new Map<string, LeasedCall>();
  /** What each was asked for. */
  private readonly asked = new WeakMap<LeasedCall, Pick<Turn, 'request' | 'target'>>();
  /** So many bytes more, or fewer, are kept: characters taken for bytes, which is what most are. */
  private readonly hold: (bytes: number) => void;
  private last = 0;

  constructor(hold: (bytes: number) => void) {
    this.hold = hold;
  }

  get size(): number {
    return this.waiting.size;
  }

  get(key: string): LeasedCall | undefined {
    return this.waiting.get(key);
  }

  /** Returns its key, which no other call ever has. */
  add(call: LeasedCall, { request, target }: Pick<Turn, 'request' | 'target'>): string {
    this.last += 1;
    this.asked.set(call, { request, target });
    this.waiting.set(String(this.last), call);
    return String(this.last);
  }

  remove(call: LeasedCall): void {
    for (const [key, waiting] of this.waiting) {
      if (waiting !== call) continue;
      this.waiting.delete(key);
      this.hold(-call.held);
    }
  }

  /** Ends those that have a denial: their client hears of it when it comes back. */
  revoke(denial: Denial): void {
    for (const call of [...this.waiting.values()]) {
      const asked = this.asked.get(call);
      if (asked !== undefined && denial(asked) !== undefined) call.cancel();
    }
  }

  /** The upstreams that have one of them. */
  upstreams(): string[] {
    return [...this.waiting.values()].map(({ upstream }) => upstream);
  }

  /**
   * A client that has given a call up does not say so: where all links to an upstream are lent, the call that has waited
   * longest for it goes. False where none has waited for long.
   */
  makeRoom(upstream: string): boolean {
    const onLinks = [...this.waiting.values()].filter((call) => call.upstream === upstream && !call.hasEnded);
    const [longest] = onLinks.sort((a, b) => b.waited - a.waited);
    if (longest === undefined || longest.waited < GIVEN_UP_MS) return false;
    longest.displace();
    return true;
  }

  /** One more has ended unheard, and is kept: the first of those that are too many, or too much, go. */
  ended(call: LeasedCall): void {
    this.hold(call.held);
    const ended = [...this.waiting.values()].filter(({ hasEnded }) => hasEnded);
    let held = ended.reduce((sum, each) => sum + each.held, 0);
    while (ended.length > 1 && (ended.length > ENDED_AT_MOST || held > HELD_AT_MOST)) {
      const oldest = ended.shift();
      held -= oldest?.held ?? 0;
      oldest?.displace();
    }
  }

  close(): void {
    for (const call of [...this.waiting.values()]) call.cancel();
  }
}
