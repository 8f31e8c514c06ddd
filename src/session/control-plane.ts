import type { ServerCapabilities } from '../protocol/capabilities.ts';
import { errorText, resultText } from '../protocol/compose.ts';
import { decoded, field, type Id, type Request } from '../protocol/envelope.ts';
import { IMMODEST } from '../protocol/modern.ts';
import { isModest } from '../protocol/modest.ts';
import { type ControlAnswer, type ControlHandlers, HandshakeAdapter } from './handshake-adapter.ts';

export interface Announcement {
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** The answer to a control request, ready to be sent under the client's own id. */
export type Answered = (request: Asked, frame: string, accepted: boolean) => void;

/** A request that was given to the SDK session. */
export interface Asked {
  readonly id: Id;
  readonly method: string;
}

/**
 * What the gateway itself has to say to one client: its SDK session, and the translation between the client's ids and
 * the integers the SDK session sees.
 */
export class ControlPlane {
  private readonly handlers: ControlHandlers;
  private readonly answered: Answered;
  private readonly asked = new Map<number, Asked>();
  private adapter: HandshakeAdapter | undefined;
  private last = 0;

  constructor(handlers: ControlHandlers, answered: Answered) {
    this.handlers = handlers;
    this.answered = answered;
  }

  /** Makes the SDK session that announces this and gives it the `initialize` request. */
  async initialize(announcement: Announcement, request: Request): Promise<void> {
    const declared = field(request.params, 'capabilities');
    if (declared !== undefined && !isModest(request.text, declared))
      return this.answered(request, errorText(request.id, IMMODEST), false);
    const adapter = new HandshakeAdapter(announcement, this.handlers, (inner, answer) => this.answer(inner, answer));
    await adapter.open();
    this.adapter = adapter;
    this.give(request);
  }

  /** The revision the SDK session chose; undefined until it has answered `initialize`. */
  get protocolVersion(): string | undefined {
    return this.adapter?.protocolVersion;
  }

  /** Returns the way to cancel the request: nothing is answered for it afterwards. */
  give(request: Request): () => void {
    const { adapter } = this;
    if (adapter === undefined) return () => {};
    this.last += 1;
    const inner = this.last;
    this.asked.set(inner, { id: request.id, method: request.method });
    const params = field(request.root, 'params');
    adapter.request(inner, request.method, params === undefined ? undefined : decoded(request.text, params));
    return () => {
      if (this.asked.delete(inner)) adapter.cancel(inner);
    };
  }

  initialized(): void {
    this.adapter?.initialized();
  }

  close(): void {
    this.adapter?.close();
    this.adapter = undefined;
    this.asked.clear();
  }

  private answer(inner: number, answer: ControlAnswer): void {
    const asked = this.asked.get(inner);
    if (asked === undefined) return;
    this.asked.delete(inner);
    if ('result' in answer) this.answered(asked, resultText(asked.id, answer.result), true);
    else this.answered(asked, errorText(asked.id, answer.error), false);
  }
}
