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
  buffered(): number;
  write(frame: string): void;
}

/**
 * The way out to one reader. Over its limit it drops what may be dropped, holds list changes back as one each, and gives
 * the reader up when nothing drains or when twice the limit waits. Nothing is polled while it is under its limit.
 */
export class Outbox {
  private readonly limits: OutboxLimits;
  private readonly sink: Sink;
  private readonly clock: Clock;
  private readonly meter: Meter;
  private readonly giveUp: () => void;
  private readonly held = new Set<string>();
  private lowest = 0;
  private drainedAt = 0;
  private stopWatch: Cancel | undefined;

  constructor(limits: OutboxLimits, sink: Sink, clock: Clock, meter: Meter, giveUp: () => void) {
    this.limits = limits;
    this.sink = sink;
    this.clock = clock;
    this.meter = meter;
    this.giveUp = giveUp;
  }

  send(frame: string, kind: FrameKind): void {
    const waiting = this.sink.buffered();
    if (waiting === 0 || waiting + frame.length <= this.limits.outbox) return this.sink.write(frame);
    this.watch();
    if (kind === 'progress' || kind === 'log') this.drop(kind);
    else if (kind === 'list_changed') this.held.add(frame);
    else if (waiting > 2 * this.limits.outbox) this.abandon();
    else this.sink.write(frame);
  }

  close(): void {
    this.stopWatch?.();
    this.stopWatch = undefined;
    this.held.clear();
  }

  private watch(): void {
    if (this.stopWatch !== undefined) return;
    this.lowest = this.sink.buffered();
    this.drainedAt = this.clock.elapsed();
    this.look();
  }

  private look(): void {
    const waiting = this.sink.buffered();
    if (waiting < this.lowest) this.drainedAt = this.clock.elapsed();
    this.lowest = waiting;
    if (waiting <= this.limits.outbox / 2) return this.recovered();
    if (this.clock.elapsed() - this.drainedAt >= this.limits.slowReader) return this.abandon();
    this.stopWatch = this.clock.after(this.limits.slowReader / 10, () => this.look());
  }

  private recovered(): void {
    this.stopWatch = undefined;
    const held = [...this.held];
    this.held.clear();
    for (const frame of held) this.sink.write(frame);
  }

  private abandon(): void {
    this.close();
    this.giveUp();
  }

  private drop(kind: FrameKind): void {
    this.meter.counter('frames_dropped_total', { kind }).add();
  }
}
