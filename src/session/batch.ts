import type { Connection, FrameKind } from '../ports/connection.ts';
import { type ArrayFrame, answeredId, splitBatch } from '../protocol/batch.ts';
import type { CloseName } from '../protocol/close-codes.ts';
import { errorText } from '../protocol/compose.ts';
import { type Id, type Message, readMessage, type Unreadable } from '../protocol/envelope.ts';
import { Fault, faultError, UNREADABLE } from '../protocol/errors.ts';
import type { Read } from './opening.ts';

export interface BatchLimits {
  readonly depth: number;
  /** Characters of answers held back for batches of one session; where none is held, one answer of any size is. */
  readonly outbox: number;
}

export interface BatchDeps {
  /** Whether the session has negotiated the revision that has batches. */
  readonly accepts: () => boolean;
  /** Admits one member as if it had come in a frame of its own. */
  readonly take: (read: Read) => void;
}

/** A batch with requests that have no answer yet. */
interface Batch {
  readonly answers: string[];
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
    if ('problem' in split) return this.refuse(split.problem);
    if (!this.deps.accepts()) return this.refuse('not_a_message');
    const batch: Batch = { answers: [], open: 1 };
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

  send(frame: string, kind: FrameKind): void {
    if (kind === 'answer' && (this.admitting !== undefined || this.waiting.size > 0)) this.answer(frame);
    else this.connection.send(frame, kind);
  }

  /** Not before what was answered in the batch being admitted has left. */
  close(name: CloseName, retryMs?: number): void {
    if (this.admitting === undefined) this.connection.close(name, retryMs);
    else this.closing ??= () => this.connection.close(name, retryMs);
  }

  pause(): void {
    this.connection.pause();
  }

  resume(): void {
    this.connection.resume();
  }

  /** What is not answered at once waits: a request is always answered, unless it is cancelled. */
  private admit(batch: Batch, message: Message | Unreadable, readAt: number): void {
    const id = message.kind === 'request' ? message.id : undefined;
    const before = batch.answers.length;
    this.admitting = { batch, id };
    this.deps.take({ message, readAt });
    if (id === undefined || batch.answers.length > before) return;
    batch.open += 1;
    this.waiting.set(id, batch);
  }

  private answer(frame: string): void {
    const id = answeredId(frame);
    const waits = id === null ? undefined : this.waiting.get(id);
    const batch = waits ?? this.admitted(id);
    if (batch === undefined) return this.connection.send(frame, 'answer');
    const fitting = this.fitting(frame, id);
    batch.answers.push(fitting);
    this.held += fitting.length;
    if (waits === undefined || id === null) return;
    this.waiting.delete(id);
    this.settle(batch);
  }

  /** The batch whose member is being admitted, if the answer is to that member. */
  private admitted(id: Id | null): Batch | undefined {
    return id === null || id === this.admitting?.id ? this.admitting?.batch : undefined;
  }

  private fitting(frame: string, id: Id | null): string {
    if (this.held === 0 || this.held + frame.length <= this.limits.outbox) return frame;
    const instead = errorText(id, faultError(new Fault('too_large')));
    return instead.length < frame.length ? instead : frame;
  }

  private settle(batch: Batch): void {
    batch.open -= 1;
    if (batch.open > 0 || batch.answers.length === 0) return;
    for (const { length } of batch.answers) this.held -= length;
    this.connection.send(`[${batch.answers.join(',')}]`, 'answer');
  }

  private refuse(problem: Unreadable['problem']): void {
    this.connection.send(errorText(null, UNREADABLE[problem]), 'answer');
  }
}
