import type { ServerCapabilities } from '../protocol/capabilities.ts';
import { errorText, resultText } from '../protocol/compose.ts';
import { decoded, field, type Id, type Request } from '../protocol/envelope.ts';
import { type ControlAnswer, type ControlHandlers, HandshakeAdapter } from './handshake-adapter.ts';

export interface Announcement {
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** The answer to a control request, ready to be sent under the client's own id. */
export type Answered = (id: Id, frame: string, accepted: boolean) => void;

/**
 * What the gateway itself has to say to one client: its SDK session, and the translation between the client's ids and
 * the integers the SDK session sees.
 */
export class ControlPlane {
  private readonly handlers: ControlHandlers;
  private readonly answered: Answered;
  private readonly ids = new Map<number, Id>();
  private adapter: HandshakeAdapter | undefined;
  private last = 0;

  constructor(handlers: ControlHandlers, answered: Answered) {
    this.handlers = handlers;
    this.answered = answered;
  }

  /** Makes the SDK session that announces this and gives it the `initialize` request. */
  async initialize(announcement: Announcement, request: Request): Promise<void> {
    const adapter = new HandshakeAdapter(announcement, this.handlers, (inner, answer) => this.answer(inner, answer));
    await adapter.open();
    this.adapter = adapter;
    this.give(request);
  }

  /** Returns the way to cancel the request: nothing is answered for it afterwards. */
  give(request: Request): () => void {
    const { adapter } = this;
    if (adapter === undefined) return () => {};
    this.last += 1;
    const inner = this.last;
    this.ids.set(inner, request.id);
    const params = field(request.root, 'params');
    adapter.request(inner, request.method, params === undefined ? undefined : decoded(request.text, params));
    return () => {
      if (this.ids.delete(inner)) adapter.cancel(inner);
    };
  }

  initialized(): void {
    this.adapter?.initialized();
  }

  close(): void {
    this.adapter?.close();
    this.adapter = undefined;
    this.ids.clear();
  }

  private answer(inner: number, answer: ControlAnswer): void {
    const id = this.ids.get(inner);
    if (id === undefined) return;
    this.ids.delete(inner);
    if ('result' in answer) this.answered(id, resultText(id, answer.result), true);
    else this.answered(id, errorText(id, answer.error), false);
  }
}
