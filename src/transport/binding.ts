import type { Cancel, Clock } from '../ports/clock.ts';
import type { Connection, FrameKind, FrameReceiver, PauseReason } from '../ports/connection.ts';
import type { Log } from '../ports/log.ts';
import type { Counter, Meter } from '../ports/meter.ts';
import { CLOSE_CODES, type CloseName } from '../protocol/close-codes.ts';
import { Outbox, type OutboxLimits } from './outbox.ts';

/** A bound socket as its registry sees it. */
export interface BoundSocket extends Connection {
  /** Bytes that wait for its client, those held back included. */
  buffered(): number;
  /** The gateway has ended it, and it is gone in a second at most: what waits in it is as good as free. */
  readonly isClosing: boolean;
}

/** The socket under a connection, whatever its framing. */
export interface Wire {
  /** Bytes taken and not yet written; a write that has gone in part counts in full. */
  buffered(): number;
  /** Of the write under way, the bytes the operating system has not taken. */
  untaken(): number;
  /** Returns how many bytes it takes; 0 when nothing can be written any more. */
  write(frame: string): number;
  /** Says goodbye, after what was written. Whoever is not gone a second later is cut off. */
  end(name: CloseName, retryMs: number | undefined): void;
  terminate(): void;
  pause(): void;
  resume(): void;
}

export interface BindingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** More waits for a client than is worth no thought. Called often. */
  readonly growing?: () => void;
}

const CLOSE_GRACE_MS = 1000;
const KNOWN_CODES = new Set<number>([1005, 1006, ...Object.values(CLOSE_CODES).map((row) => row.code)]);

/** One client's connection over a wire: its outbox, its counters, who closed it, and that its receiver hears so once. */
export class Binding implements BoundSocket {
  private readonly wire: Wire;
  private readonly deps: BindingDeps;
  private readonly outbox: Outbox;
  private readonly counters: Readonly<Record<'out' | 'outBytes' | 'in' | 'inBytes', Counter>>;
  private receiver: FrameReceiver | undefined;
  private closedBy: 'client' | 'gateway' = 'client';
  private code: number | undefined;
  private held = 0;
  private readonly pauses = new Set<PauseReason>();
  private stopTerminate: Cancel = () => {};

  constructor(wire: Wire, limits: OutboxLimits, deps: BindingDeps) {
    const { clock, meter } = deps;
    this.wire = wire;
    this.deps = deps;
    this.counters = {
      out: meter.counter('messages_total', { direction: 'out' }),
      outBytes: meter.counter('bytes_total', { direction: 'out' }),
      in: meter.counter('messages_total', { direction: 'in' }),
      inBytes: meter.counter('bytes_total', { direction: 'in' }),
    };
    const write = (frame: string) => this.write(frame);
    const sink = { buffered: () => wire.buffered(), untaken: () => wire.untaken(), write };
    this.outbox = new Outbox(limits, sink, clock, meter, {
      growing: () => deps.growing?.(),
      crowded: (isCrowded) => this.guarded(() => this.receiver?.crowded?.(isCrowded)),
      giveUp: () => this.close('slow_reader'),
    });
  }

  /** From now on frames have a receiver; where none can be made, the connection ends. */
  bind(receiverOf: (connection: Connection) => FrameReceiver): void {
    try {
      this.receiver = receiverOf(this);
    } catch (err) {
      this.deps.log.error('session_open_failed', { err });
      this.close('internal');
    }
  }

  send(frame: string, kind: FrameKind, from?: 'shared'): void {
    this.outbox.send(frame, kind, from);
  }

  hold(bytes: number): void {
    this.held += bytes;
    if (bytes > 0) this.deps.growing?.();
  }

  close(name: CloseName, retryMs?: number): void {
    if (this.closedBy === 'gateway') return;
    this.closedBy = 'gateway';
    this.code = CLOSE_CODES[name].code;
    this.wire.resume();
    this.wire.end(name, retryMs);
    this.terminateSoon();
  }

  /** A socket that is closing is read to its end. */
  pause(why: PauseReason): void {
    if (this.closedBy === 'gateway') return;
    this.pauses.add(why);
    this.wire.pause();
  }

  resume(why: PauseReason): void {
    if (this.pauses.delete(why) && this.pauses.size === 0) this.wire.resume();
  }

  buffered(): number {
    return this.wire.buffered() + this.held;
  }

  get isClosing(): boolean {
    return this.closedBy === 'gateway';
  }

  /** A frame of the client has been read. */
  received(text: string, bytes: number): void {
    this.counters.in.add();
    this.counters.inBytes.add(bytes);
    if (this.closedBy === 'client') this.guarded(() => this.receiver?.frame(text));
  }

  /** The peer shows no sign of life. */
  lost(): void {
    this.closedBy = 'gateway';
    this.wire.terminate();
  }

  /** The wire itself ends the connection for what the peer did, with this code where it has one. */
  broken(code: number | undefined): void {
    this.closedBy = 'gateway';
    this.code ??= code;
    this.terminateSoon();
  }

  /** The socket is gone; `peerCode` is what the peer said. Once, last. */
  gone(peerCode: number): void {
    this.outbox.close();
    this.stopTerminate();
    const code = this.code ?? peerCode;
    const label = KNOWN_CODES.has(code) ? String(code) : 'other';
    this.deps.meter.counter('connections_closed_total', { code: label, by: this.closedBy }).add();
    this.guarded(() => this.receiver?.closed(code, this.closedBy));
  }

  private write(frame: string): void {
    const bytes = this.wire.write(frame);
    if (bytes === 0) return;
    this.counters.out.add();
    this.counters.outBytes.add(bytes);
  }

  private terminateSoon(): void {
    this.stopTerminate();
    this.stopTerminate = this.deps.clock.after(CLOSE_GRACE_MS, () => this.wire.terminate());
  }

  private guarded(task: () => void): void {
    try {
      task();
    } catch (err) {
      this.deps.log.error('session_failed', { err });
      this.close('internal');
    }
  }
}
