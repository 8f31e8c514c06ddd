import type { Cancel, Clock } from '../ports/clock.ts';
import type { Backlogs } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { BoundSocket } from './binding.ts';

export interface BufferTotalDeps {
  /** Bytes that may wait in all. */
  readonly limit: number;
  /** What waits for upstreams. */
  readonly backlogs: () => Backlogs;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often is looked while anything waits, and what a closed client is asked to wait, in milliseconds. */
const LOOK_MS = 100;
const RETRY_MS = 5000;
/** A socket with less than this waiting is closed for nothing: what fills memory is elsewhere. In bytes. */
const WORTH_CLOSING = 64 * 1024;

/**
 * All that waits in this process for its clients and upstreams. Over the limit the sockets that have most waiting are closed,
 * with 1013, until what is left is under it; but none where pipes everybody uses hold that much by themselves, for closing
 * frees nothing of those. Looks only while something waits, from the moment it is told that something does. A message that has
 * come in part is in no figure: `limits.maxMessage` bounds it, socket by socket.
 */
export class BufferTotal {
  private readonly deps: BufferTotalDeps;
  private readonly sockets = new Map<string, BoundSocket>();
  /** The pipes everybody uses hold more than the limit, and that has been told. */
  private isHopeless = false;
  private stopLooking: Cancel | undefined;

  constructor(deps: BufferTotalDeps) {
    this.deps = deps;
  }

  add(session: string, socket: BoundSocket): void {
    this.sockets.set(session, socket);
  }

  remove(session: string): void {
    this.sockets.delete(session);
  }

  /** Something waits. Costs nothing while that is known. */
  readonly growing = (): void => {
    this.stopLooking ??= this.deps.clock.after(LOOK_MS, () => this.look());
  };

  /** Bytes that wait for clients. */
  get outboxes(): number {
    let sum = 0;
    for (const socket of this.sockets.values()) sum += socket.buffered();
    return sum;
  }

  close(): void {
    this.stopLooking?.();
  }

  private look(): void {
    this.stopLooking = undefined;
    const { shared, own } = this.deps.backlogs();
    const pipes = new Map<string, number>();
    let total = shared;
    for (const [session, bytes] of own) {
      pipes.set(session, (pipes.get(session) ?? 0) + bytes);
      if (this.sockets.get(session)?.isClosing !== true) total += bytes;
    }
    for (const socket of this.sockets.values()) if (!socket.isClosing) total += socket.buffered();
    this.tellHopeless(shared);
    if (total > this.deps.limit && !this.isHopeless) this.relieve(total, pipes);
    if (total > 0) this.growing();
  }

  private tellHopeless(shared: number): void {
    const { limit, log } = this.deps;
    const was = this.isHopeless;
    this.isHopeless = shared > limit;
    if (this.isHopeless && !was) log.warn('shared_pipes_over_total', { bytes: shared, limit });
  }

  private relieve(total: number, pipes: ReadonlyMap<string, number>): void {
    const { limit, log } = this.deps;
    const weighed = [...this.sockets]
      .filter(([, { isClosing }]) => !isClosing)
      .map(([session, socket]) => ({ session, socket, bytes: socket.buffered() + (pipes.get(session) ?? 0) }))
      .sort((a, b) => b.bytes - a.bytes);
    let left = total;
    for (const { session, socket, bytes } of weighed) {
      if (left <= limit || bytes < WORTH_CLOSING) return;
      left -= bytes;
      log.warn('socket_closed_for_memory', { session, bytes, total, limit });
      socket.close('overloaded', RETRY_MS);
    }
  }
}
