import type { Cancel, Clock } from '../ports/clock.ts';
import type { FrameKind } from '../ports/connection.ts';
import type { Meter } from '../ports/meter.ts';

export interface OutboxLimits {
  /** Bytes waiting for one reader; an empty outbox takes any one frame. */
  readonly outbox: number;
  /** Milliseconds without a byte drained, while over the limit, after which the reader is given up. */
  readonly slowReader: number;
}

/** The socket below: how much waits in it and how to write. */
export interface Sink {
  /** Bytes written and not yet gone; a write that has gone in part counts in full. */
  buffered(): number;
  /** Of the write under way, the bytes that have not gone. */
  untaken(): number;
  write(frame: string): void;
}

/** Whoever has the outbox. */
export interface OutboxOwner {
  /** More waits than is worth no thought. Told often. */
  growing(): void;
  /** Over its limit, or drained to half of it again: in turns. */
  crowded(isCrowded: boolean): void;
  /** The reader is too slow. Once, last. */
  giveUp(): void;
}

/** What may wait without being looked at, in bytes. */
const SMALL = 16 * 1024;
/** UTF-8 bytes of one UTF-16 unit at most. */
const WIDEST = 3;
/** How often a full outbox is looked at, in milliseconds. */
const LOOK_MS = 50;

/**
 * The way out to one reader. Over its limit it drops what may be dropped, holds list changes back as one each, and says so,
 * that what fills it may be stopped. The reader is given up when nothing drains, at once for what nobody stops, and when what
 * the gateway itself has to say meanwhile comes to the limit once more. Nothing is polled while it is under its limit.
 */
export class Outbox {
  private readonly limits: OutboxLimits;
  private readonly sink: Sink;
  private readonly clock: Clock;
  private readonly meter: Meter;
  private readonly owner: OutboxOwner;
  private readonly small: number;
  private readonly held = new Set<string>();
  private isOver = false;
  private isClosed = false;
  /** Bytes written since it went over. */
  private extra = 0;
  private last = { waiting: 0, untaken: 0 };
  private drainedAt = 0;
  private stopWatch: Cancel = () => {};

  constructor(limits: OutboxLimits, sink: Sink, clock: Clock, meter: Meter, owner: OutboxOwner) {
    this.limits = limits;
    this.sink = sink;
    this.clock = clock;
    this.meter = meter;
    this.owner = owner;
    this.small = Math.min(SMALL, limits.outbox / WIDEST);
  }

  send(frame: string, kind: FrameKind, from?: 'shared'): void {
    const waiting = this.sink.buffered();
    if (waiting + frame.length <= this.small) this.sink.write(frame);
    else this.sendLarge(frame, kind, from, waiting);
  }

  close(): void {
    this.isClosed = true;
    this.stopWatch();
    this.held.clear();
  }

  private sendLarge(frame: string, kind: FrameKind, from: 'shared' | undefined, waiting: number): void {
    this.owner.growing();
    const bytes = waiting === 0 ? 0 : Buffer.byteLength(frame);
    if (waiting + bytes <= this.limits.outbox) return this.sink.write(frame);
    if (this.isClosed) return;
    if (kind === 'progress' || kind === 'log') this.drop(kind);
    else if (kind === 'list_changed') this.holdBack(frame);
    else if (from === 'shared' || this.extra > this.limits.outbox) return this.abandon();
    else this.writeOver(frame, bytes);
    this.watch();
  }

  /** What took it over the limit was on its way before anybody could be stopped. */
  private writeOver(frame: string, bytes: number): void {
    if (this.isOver) this.extra += bytes;
    this.sink.write(frame);
  }

  private watch(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.extra = 0;
    this.last = { waiting: this.sink.buffered(), untaken: this.sink.untaken() };
    this.drainedAt = this.clock.elapsed();
    this.lookSoon();
    this.owner.crowded(true);
  }

  private lookSoon(): void {
    this.stopWatch = this.clock.after(Math.min(LOOK_MS, this.limits.slowReader / 10), () => this.look());
  }

  private look(): void {
    const now = { waiting: this.sink.buffered(), untaken: this.sink.untaken() };
    if (now.waiting < this.last.waiting || now.untaken !== this.last.untaken) this.drainedAt = this.clock.elapsed();
    this.last = now;
    if (now.waiting <= this.limits.outbox / 2) this.recovered();
    else if (this.clock.elapsed() - this.drainedAt >= this.limits.slowReader) this.abandon();
    else this.lookSoon();
  }

  private recovered(): void {
    this.isOver = false;
    const held = [...this.held];
    this.held.clear();
    for (const frame of held) this.sink.write(frame);
    this.owner.crowded(false);
  }

  private abandon(): void {
    if (this.isClosed) return;
    this.close();
    this.owner.giveUp();
  }

  /** One told twice is told once. */
  private holdBack(frame: string): void {
    if (this.held.has(frame)) this.drop('list_changed');
    this.held.add(frame);
  }

  private drop(kind: FrameKind): void {
    this.meter.counter('frames_dropped_total', { kind }).add();
  }
}
