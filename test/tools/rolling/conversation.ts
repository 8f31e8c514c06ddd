import { type Closed, type JsonRpcMessage, WebSocketClientTransport } from '../../../src/client/index.ts';
import { type CallerEra, textOf } from '../trial/caller.ts';
import type { CallEnd } from './ledger.ts';

const PREFIX = 'io.modelcontextprotocol';
const ENVELOPE = { [`${PREFIX}/protocolVersion`]: '2026-07-28', [`${PREFIX}/clientCapabilities`]: {} };
const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'rolling', version: '1' } };
/** Milliseconds for an answer; a call takes half a second at most. */
const PATIENCE = 20_000;

/** One session on one socket of the gateway's own client library, without an SDK. */
export class Conversation {
  /** Resolves when the socket has ended, however it did. */
  readonly ended: Promise<Closed>;
  private readonly transport: WebSocketClientTransport;
  private readonly era: CallerEra;
  private readonly pending = new Map<number, (end: CallEnd) => void>();
  private last = 0;

  private constructor(transport: WebSocketClientTransport, era: CallerEra) {
    this.transport = transport;
    this.era = era;
    this.ended = new Promise((resolve) => {
      transport.onclose = () => {
        for (const end of this.pending.values()) end({ kind: 'lost' });
        this.pending.clear();
        resolve(transport.closed ?? { code: 1006, reason: '' });
      };
    });
    transport.onmessage = (message) => this.heard(message);
  }

  /** Rejects with what the transport rejects with, or where the session is refused. */
  static async open(url: string, token: string, era: CallerEra): Promise<Conversation> {
    const conversation = new Conversation(new WebSocketClientTransport({ url, token }), era);
    await conversation.transport.start();
    if (era === 'handshake') {
      const end = await conversation.ask('initialize', CLIENT);
      if (end.kind === 'error') {
        await conversation.close();
        throw new Error(`initialize: ${end.reason}`);
      }
      conversation.say({ method: 'notifications/initialized' });
    }
    return conversation;
  }

  get isOpen(): boolean {
    return this.transport.closed === undefined;
  }

  /** Always ends. */
  ask(method: string, params: object): Promise<CallEnd> {
    this.last += 1;
    const id = this.last;
    return new Promise((resolve) => {
      const late = setTimeout(() => end({ kind: 'error', reason: 'no answer', retryable: false }), PATIENCE);
      const end = (how: CallEnd) => {
        clearTimeout(late);
        this.pending.delete(id);
        resolve(how);
      };
      this.pending.set(id, end);
      this.say({ id, method, params: this.era === 'modern' ? { ...params, _meta: ENVELOPE } : params });
    });
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  /** What cannot be sent is lost with the socket. */
  private say(message: Omit<JsonRpcMessage, 'jsonrpc'>): void {
    this.transport
      .send({ jsonrpc: '2.0', ...message })
      .catch(() => this.pending.get(Number(message.id))?.({ kind: 'lost' }));
  }

  private heard({ id, method, result, error }: JsonRpcMessage): void {
    if (method !== undefined) return;
    this.pending.get(Number(id))?.(error === undefined ? { kind: 'result', text: textOf(result) } : failed(error));
  }
}

/** An error of the gateway says itself whether it may be tried again. */
function failed(error: unknown): CallEnd {
  const { code, data }: { code?: unknown; data?: unknown } = typeof error === 'object' && error !== null ? error : {};
  const { reason, retryable }: { reason?: unknown; retryable?: unknown } =
    typeof data === 'object' && data !== null ? data : {};
  return { kind: 'error', reason: String(reason ?? code), retryable: retryable === true };
}
