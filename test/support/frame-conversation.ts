import {
  errorFault,
  isMessage,
  isOwn,
  type Message,
  notificationFault,
  requestFault,
  resultFault,
} from './frame-judge.ts';
import { type FrameSchema, frameSchema, type Revision } from './frame-schema.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** One connection as its client hears it, both directions in order: holds every frame it receives against the schema of its revision. */
export class FrameConversation {
  /** What was wrong, with the frame it was wrong with. */
  readonly faults: string[] = [];
  private readonly odd: boolean;
  /** Methods of what the client asked, by id as text, so that `1` and `"1"` differ; several where it used one again. */
  private readonly asked = new Map<string, string[]>();
  private schema: FrameSchema | undefined;
  private version: unknown;

  /** `odd`: what an upstream wrote is held to JSON-RPC alone. */
  constructor(odd: boolean) {
    this.odd = odd;
  }

  /** A frame the client sends. What is no message is not judged here. */
  sent(frame: string): void {
    const value = parsed(frame);
    for (const message of Array.isArray(value) ? value : [value]) if (isMessage(message)) this.note(message);
  }

  received(frame: string): void {
    const value = parsed(frame);
    const fault = Array.isArray(value) ? this.arrayFault(value) : this.faultOf(value);
    if (fault !== undefined) this.faults.push(`${fault} in ${cut(frame)}`);
  }

  private note({ id, method, params }: Message): void {
    if (typeof method !== 'string' || id === undefined) return;
    this.asked.set(keyOf(id), [...(this.asked.get(keyOf(id)) ?? []), method]);
    const version = isMessage(params) && isMessage(params._meta) ? params._meta[VERSION] : undefined;
    if (version === '2026-07-28' && method !== 'server/discover') this.schema ??= this.modernUnlessOpening();
  }

  /** Whoever has asked `initialize` first has a handshake session, whatever its requests look like. */
  private modernUnlessOpening(): FrameSchema | undefined {
    return [...this.asked.values()].flat().includes('initialize') ? undefined : frameSchema('2026-07-28');
  }

  private arrayFault(members: readonly unknown[]): string | undefined {
    if (this.version !== '2025-03-26') return 'an array of messages';
    if (members.length === 0) return 'an empty array';
    return members.map((member) => this.faultOf(member)).find((fault) => fault !== undefined);
  }

  private faultOf(message: unknown): string | undefined {
    if (!isMessage(message)) return 'no message';
    if ('method' in message) return this.unaskedFault(message, message.method);
    return this.answerFault(message);
  }

  private unaskedFault(message: Message, method: unknown): string | undefined {
    const schema = this.schema ?? frameSchema('2025-11-25');
    const kind = 'id' in message ? 'request' : 'notification';
    const asWritten = this.odd && !isOwn(String(method));
    return kind === 'request'
      ? requestFault(schema, message, asWritten)
      : notificationFault(schema, message, asWritten);
  }

  /** An id may have been used again after a call was cancelled or refused: the answer is held against each in turn. */
  private answerFault(message: Message): string | undefined {
    if (message.id === null) return errorFault(this.schemaFor(message), message);
    const methods = this.asked.get(keyOf(message.id)) ?? [];
    const faults = methods.map((method) => this.faultOfAnswer(message, method));
    const fits = faults.indexOf(undefined);
    methods.splice(Math.max(fits, 0), 1);
    return fits === -1 ? (faults[0] ?? 'an answer to nothing that was asked') : undefined;
  }

  private faultOfAnswer(message: Message, method: string): string | undefined {
    if (method === 'initialize' && isMessage(message.result)) this.open(message.result.protocolVersion);
    const schema = this.schemaFor(message, method);
    if ('error' in message) return errorFault(schema, message);
    return resultFault(schema, method, message, this.odd && !isOwn(method));
  }

  /** Before the connection has an era, a probe is answered in the modern one, and an error says by its code which it is of. */
  private schemaFor({ error }: Message, method?: string): FrameSchema {
    const modern = method === 'server/discover' || (isMessage(error) && /^-3202\d$/.test(String(error.code)));
    return this.schema ?? frameSchema(modern ? '2026-07-28' : '2025-11-25');
  }

  private open(version: unknown): void {
    if (typeof version !== 'string') return;
    this.version = version;
    this.schema = frameSchema(handshakeRevision(version));
  }
}

/** The schema an `initialize` result selects; the revisions before 2025-03-26 are held against it. */
function handshakeRevision(version: unknown): Revision {
  return version === '2025-11-25' || version === '2025-06-18' ? version : '2025-03-26';
}

function parsed(frame: string): unknown {
  try {
    return JSON.parse(frame);
  } catch {
    return undefined;
  }
}

function keyOf(id: unknown): string {
  return JSON.stringify(id) ?? 'undefined';
}

function cut(frame: string): string {
  return frame.length > 400 ? `${frame.slice(0, 400)}…` : frame;
}
