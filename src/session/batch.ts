import type { Connection, FrameKind, PauseReason } from '../ports/connection.ts';
import { type ArrayFrame, answeredId, splitBatch } from '../protocol/batch.ts';
import type { CloseName } from '../protocol/close-codes.ts';
import { errorText } from '../protocol/compose.ts';
import { type Id, type Message, readMessage, type Unreadable } from '../protocol/envelope.ts';
import { Fault, faultError } from '../protocol/errors.ts';
import type { Read } from './opening.ts';

export interface BatchLimits {
  readonly depth: number;
  /** Bytes of answers held back for batches of one session; where none is held, one answer of any size is. */
  readonly outbox: number;
}

export interface BatchDeps {
  /** Whether the session has negotiated the revision that has batches. */
  readonly accepts: () => boolean;
  /** Admits one member as if it had come in a frame of its own, or what stands for a refused batch. */
  readonly take: (read: Read) => void;
  /** Whether the request of this id has been taken and not answered. */
  readonly isUnderWay: (id: Id) => boolean;
}

/** A batch with requests that have no answer yet. */
interface Batch {
  readonly answers: string[];
  /** Of the answers, in bytes. */
  size: number;
  /** Of any of its answers. */
  from: 'shared' | undefined;
  /** Requests without an answer, and one more while its members are being admitted. */
  open: number;
}

/**
 * The way out of a session whose client may send batches (JSON-RPC 2.0 section 6): an answer to a request of a batch
 * waits until all of them are there and leaves with them in one array. Everything else passes at once.
 */
export class Batches implements Connection {
  private readonly connection: Connection;
  private readonly limits: BatchLimits;
  private readonly deps: BatchDeps;
  private readonly waiting = new Map<Id, Batch>();
  private admitting: { readonly batch: Batch; readonly id: Id | undefined } | undefined;
  private held = 0;
  private closing: (() => void) | undefined;

  constructor(connection: Connection, limits: BatchLimits, deps: BatchDeps) {
    this.connection = connection;
    this.limits = limits;
    this.deps = deps;
  }

  /** Admits every member of a batch, or refuses the frame. */
  take({ text }: ArrayFrame, readAt: number): void {
    const split = splitBatch(text, this.limits.depth);
    if ('problem' in split) return this.refuse(split.problem, readAt);
    if (!this.deps.accepts()) return this.refuse('not_a_message', readAt);
    const batch: Batch = { answers: [], size: 0, from: undefined, open: 1 };
    for (const member of split.members) this.admit(batch, readMessage(member, this.limits.depth), readAt);
    this.admitting = undefined;
    this.settle(batch);
    this.closing?.();
  }

  /** To be called before the client's cancellation of a request takes effect: its batch no longer waits for it. */
  cancelled(id: Id): void {
    const batch = this.waiting.get(id);
    if (batch === undefined) return;
    this.waiting.delete(id);
    this.settle(batch);
  }

  send(frame: string, kind: FrameKind, from?: 'shared'): void {
    if (kind === 'answer' && (this.admitting !== undefined || this.waiting.size > 0)) this.answer(frame, from);
    else this.connection.send(frame, kind, from);
  }

  hold(bytes: number): void {
    this.connection.hold(bytes);
  }

  /** Not before what was answered in the batch being admitted has left. */
  close(name: CloseName, retryMs?: number): void {
    if (this.admitting === undefined) this.connection.close(name, retryMs);
    else this.closing ??= () => this.connection.close(name, retryMs);
  }

  pause(why: PauseReason): void {
    this.connection.pause(why);
  }

  resume(why: PauseReason): void {
    this.connection.resume(why);
  }

  /** Waits for the answer to what this member alone has put under way: an id that was in use is the first request's. */
  private admit(batch: Batch, message: Message | Unreadable, readAt: number): void {
    const id = message.kind === 'request' ? message.id : undefined;
    const wasUnderWay = id !== undefined && this.deps.isUnderWay(id);
    this.admitting = { batch, id };
    this.deps.take({ message, readAt });
    if (id === undefined || wasUnderWay || !this.deps.isUnderWay(id)) return;
    batch.open += 1;
    this.waiting.set(id, batch);
  }

  private answer(frame: string, from: 'shared' | undefined): void {
    const id = answeredId(frame);
    const waits = id === null ? undefined : this.waiting.get(id);
    const batch = waits ?? this.admitted(id);
    if (batch === undefined) return this.connection.send(frame, 'answer', from);
    const { text, size } = this.fitting(frame, id);
    batch.answers.push(text);
    batch.size += size;
    batch.from ??= from;
    this.keep(size);
    if (waits === undefined || id === null) return;
    this.waiting.delete(id);
    this.settle(batch);
  }

  /** The batch whose member is being admitted, if the answer is to that member. */
  private admitted(id: Id | null): Batch | undefined {
    return id === null || id === this.admitting?.id ? this.admitting?.batch : undefined;
  }

  private fitting(frame: string, id: Id | null): { readonly text: string; readonly size: number } {
    const whole = { text: frame, size: Buffer.byteLength(frame) };
    if (this.held === 0 || this.held + whole.size <= this.limits.outbox) return whole;
    const text = errorText(id, faultError(new Fault('too_large')));
    const instead = { text, size: Buffer.byteLength(text) };
    return instead.size < whole.size ? instead : whole;
  }

  private keep(bytes: number): void {
    this.held += bytes;
    this.connection.hold(bytes);
  }

  private settle(batch: Batch): void {
    batch.open -= 1;
    if (batch.open > 0 || batch.answers.length === 0) return;
    this.keep(-batch.size);
    this.connection.send(`[${batch.answers.join(',')}]`, 'answer', batch.from);
  }

  /** As a whole: it is one malformed message. */
  private refuse(problem: Unreadable['problem'], readAt: number): void {
    this.deps.take({ message: { kind: 'unreadable', problem, id: undefined }, readAt });
  }
}
