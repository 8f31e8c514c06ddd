import { readFrame, splitBatch } from '../../../src/protocol/batch.ts';
import { type Id, idField, type Message, readMessage, type Unreadable } from '../../../src/protocol/envelope.ts';

const DEPTH = 4000;

/** Whether the session takes batches; `unknown` where nobody can say what it has negotiated. */
type Batching = 'yes' | 'no' | 'unknown';

interface Entry {
  sent: number;
  answered: number;
  /** Cancelled, or a listen: it need not be answered. */
  excused: boolean;
}

/**
 * What one socket is owed, by the gateway's own reading of what was sent: for each request one answer under its id or,
 * where that id was in flight already, one under null; for each text that is no message one under null.
 */
export class Ledger {
  batching: Batching = 'no';
  /** The gateway's requests of this client that were not answered yet, by id. */
  readonly questions = new Set<string>();
  /** Results that ask the client something, not yet taken by whoever answers. */
  readonly asking: { readonly id: Id; readonly result: Record<string, unknown> }[] = [];
  readonly faults: string[] = [];
  private readonly entries = new Map<Id, Entry>();
  private unreadable = { least: 0, most: 0 };
  private nulls = 0;
  private readonly drops: boolean;

  /** `drops` where a rate counts: beyond it, what would be answered with id null has no answer. */
  constructor(drops: boolean) {
    this.drops = drops;
  }

  sent(text: string): void {
    const message = readFrame(text, DEPTH);
    if (message.kind !== 'array') return this.take(message);
    if (this.batching === 'no') return this.owesNull();
    const split = splitBatch(text, DEPTH);
    const members = 'problem' in split ? [] : split.members;
    if (this.batching === 'unknown') this.unreadable.most += members.length + 1;
    else if (members.length === 0) this.owesNull();
    for (const member of members) this.take(readMessage(member, DEPTH), this.batching === 'unknown');
  }

  /** How many messages the gateway may have taken for malformed; it ends a socket that sends many. */
  get malformed(): number {
    return [...this.entries.values()].reduce((sum, { sent }) => sum + sent - 1, this.unreadable.most);
  }

  isRequest(text: string): boolean {
    return readMessage(text, DEPTH).kind === 'request';
  }

  /** What the gateway wrote, a frame. */
  received(text: string): void {
    if (/[\r\n]/.test(text)) this.faults.push(`a frame with a line break: ${excerpt(text)}`);
    try {
      const frame: unknown = JSON.parse(text);
      for (const message of Array.isArray(frame) ? frame : [frame]) this.heard(message);
    } catch {
      this.faults.push(`a frame that is not JSON: ${excerpt(text)}`);
    }
  }

  /** Ids that still wait for their one answer. */
  get unanswered(): Id[] {
    return [...this.entries].filter(([, { sent, answered, excused }]) => !excused && answered < sent).map(([id]) => id);
  }

  get isSettled(): boolean {
    const owed = [...this.entries.values()].reduce((sum, one) => sum + (one.excused ? 0 : one.sent - one.answered), 0);
    const isToldOfAll = this.drops || this.nulls >= this.unreadable.least + owed;
    return isToldOfAll && this.unanswered.every((id) => this.mayBeNull(id));
  }

  /** To be called when nothing more can come. */
  close(): void {
    let spare = this.unreadable.most;
    for (const { sent, answered } of this.entries.values()) spare += sent - answered;
    if (this.nulls > spare) this.faults.push(`${this.nulls} answers with id null, at most ${spare} owed`);
    if (!this.isSettled) {
      const ids = this.unanswered.map((id) => JSON.stringify(id)).join(' ');
      this.faults.push(`no answer to ${ids.slice(0, 300)}, ${this.nulls} of ${this.unreadable.least} with id null`);
    }
  }

  /** Sent twice or more, one of them answered: the others may have been told that the id is in flight. */
  private mayBeNull(id: Id): boolean {
    const { sent = 0, answered = 0 } = this.entries.get(id) ?? {};
    return sent > 1 && answered > 0;
  }

  private take(message: Message | Unreadable, perhaps = false): void {
    if (message.kind === 'unreadable') {
      if (!perhaps) this.owesNull();
    } else if (message.kind === 'request') {
      const entry = this.entries.get(message.id) ?? { sent: 0, answered: 0, excused: false };
      entry.sent += 1;
      if (perhaps || message.method === 'subscriptions/listen') entry.excused = true;
      this.entries.set(message.id, entry);
    } else if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const entry = this.entries.get(idField(message.text, message.params, 'requestId') ?? '');
      if (entry !== undefined) entry.excused = true;
    } else if (message.kind === 'response' && message.id !== null) this.questions.delete(String(message.id));
  }

  private owesNull(): void {
    this.unreadable.least += 1;
    this.unreadable.most += 1;
  }

  private heard(message: unknown): void {
    if (typeof message !== 'object' || message === null || !('jsonrpc' in message))
      return void this.faults.push(`no message: ${excerpt(JSON.stringify(message))}`);
    const id = 'id' in message ? message.id : undefined;
    if ('method' in message) {
      if (typeof id === 'string') this.questions.add(id);
    } else if (id === null) this.nulls += 1;
    else this.answered(id, message);
  }

  private answered(id: unknown, message: object): void {
    const known = typeof id === 'string' || typeof id === 'number' ? id : undefined;
    const entry = known === undefined ? undefined : this.entries.get(known);
    if (known === undefined || entry === undefined)
      return void this.faults.push(`an answer nobody waits for: ${excerpt(JSON.stringify(message))}`);
    const result = 'result' in message ? message.result : undefined;
    if (typeof result === 'object' && result !== null && 'inputRequests' in result)
      this.asking.push({ id: known, result: { ...result } });
    entry.answered += 1;
    if (entry.answered > entry.sent) this.faults.push(`answered twice: ${excerpt(JSON.stringify(message))}`);
  }
}

export function excerpt(text: string): string {
  return text.length > 300 ? `${text.slice(0, 200)} … ${text.slice(-90)}` : text;
}
