import type { Cancel, Clock } from '../ports/clock.ts';
import type { Connection } from '../ports/connection.ts';
import type { Link } from '../ports/link.ts';

export interface IntakeDeps {
  readonly connection: Pick<Connection, 'pause' | 'resume'>;
  readonly clock: Clock;
}

/** What a link may have waiting without being looked at, in bytes. */
const SMALL = 16 * 1024;
/** From here on its pipe counts as full, in bytes; drained to half of it, it is no more. */
const FULL = 1024 * 1024;
/** How often a full pipe is looked at while its client is paused, and one that nobody waits for. Milliseconds. */
const LOOK_MS = 10;
const SELDOM_MS = 100;
/** How long a full pipe may not move, and how long one pause lasts at most, whatever moves. Milliseconds. */
const STUCK_MS = 1000;
const PAUSE_MS = 10_000;

/**
 * Stops reading from one client while what it wrote fills the pipe of an upstream, so that a slow upstream slows its client
 * and nobody else. Nobody waits for a pipe that has not moved for a second, nor for 10 s in all: the client is read again,
 * and the link itself refuses what would come on top, until that pipe has drained. So its cancellations, a refresh and its calls
 * to others are late by 10 s at most, and by a second where nothing moves; and a client that has gone is found by its pings.
 */
export class Intake {
  private readonly deps: IntakeDeps;
  private readonly full = new Set<Link>();
  /** Not waited for again before they have drained. */
  private readonly stuck = new Set<Link>();
  private stopLooking: Cancel = () => {};
  private seen = { backlog: 0, untaken: 0 };
  private pausedAt = 0;
  private movedAt = 0;

  constructor(deps: IntakeDeps) {
    this.deps = deps;
  }

  /** Something of the client's has just been handed to this link. */
  wrote(link: Link): void {
    const { backlog } = link;
    if (backlog <= SMALL && this.stuck.size === 0) return;
    if (backlog <= FULL) this.stuck.delete(link);
    else if (!this.stuck.has(link)) this.shut(link);
  }

  close(): void {
    this.stopLooking();
    this.full.clear();
    this.stuck.clear();
  }

  private shut(link: Link): void {
    const isFirst = this.full.size === 0;
    this.full.add(link);
    if (!isFirst) return;
    this.deps.connection.pause('full_pipe');
    this.pausedAt = this.movedAt = this.deps.clock.elapsed();
    this.seen = this.total();
    this.lookIn(LOOK_MS);
  }

  private lookIn(ms: number): void {
    this.stopLooking();
    this.stopLooking = this.deps.clock.after(ms, () => this.look());
  }

  private look(): void {
    const { clock, connection } = this.deps;
    const isPaused = this.full.size > 0;
    const now = this.total();
    if (now.backlog < this.seen.backlog || now.untaken !== this.seen.untaken) this.movedAt = clock.elapsed();
    for (const links of [this.full, this.stuck])
      for (const link of [...links]) if (link.backlog <= FULL / 2) links.delete(link);
    const until = Math.min(this.movedAt + STUCK_MS, this.pausedAt + PAUSE_MS);
    if (clock.elapsed() >= until) this.giveUp();
    this.seen = this.total();
    if (this.full.size > 0) this.lookIn(LOOK_MS);
    else if (this.stuck.size > 0) this.lookIn(SELDOM_MS);
    if (isPaused && this.full.size === 0) connection.resume('full_pipe');
  }

  private giveUp(): void {
    for (const link of this.full) this.stuck.add(link);
    this.full.clear();
  }

  private total() {
    const sum = { backlog: 0, untaken: 0 };
    for (const link of this.full) {
      sum.backlog += link.backlog;
      sum.untaken += link.untaken;
    }
    return sum;
  }
}
