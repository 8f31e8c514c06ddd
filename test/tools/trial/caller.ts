import type { RawSocket } from './socket.ts';

export type CallerEra = 'handshake' | 'modern';

/** How one call of a tool has ended: with the text of its result, an error by its reason or code, or with its socket. */
export type CallEnd =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'error'; readonly reason: string }
  | { readonly kind: 'lost' };

/** Who calls tools by name. */
export interface Caller {
  call(name: string, given: object): Promise<CallEnd>;
  close(): Promise<void> | void;
}

const PREFIX = 'io.modelcontextprotocol';
const ENVELOPE = { [`${PREFIX}/protocolVersion`]: '2026-07-28', [`${PREFIX}/clientCapabilities`]: {} };
const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'trial', version: '1' } };

/** A client written by hand that keeps account of every id: what is answered twice, or was never asked, is a violation. */
export class RawCaller implements Caller {
  readonly socket: RawSocket;
  readonly violations: string[] = [];
  private readonly era: CallerEra;
  private readonly pending = new Map<number, (end: CallEnd) => void>();
  private readonly cancelled = new Set<number>();
  private last = 0;

  constructor(socket: RawSocket, era: CallerEra) {
    this.socket = socket;
    this.era = era;
    socket.onText = (text) => this.heard(JSON.parse(text));
    socket.onEnded = () => this.lost();
  }

  /** Opens the session; rejects when that is refused. */
  async open(): Promise<this> {
    const [method, params] = this.era === 'handshake' ? ['initialize', CLIENT] : ['tools/list', {}];
    const { ended } = this.ask(method, params);
    const end = await ended;
    if (end.kind !== 'text') throw new Error(`${method} ended: ${JSON.stringify(end)}`);
    if (this.era === 'handshake') this.notify('notifications/initialized', {});
    return this;
  }

  get inFlight(): number {
    return this.pending.size;
  }

  ask(method: string, params: object): { readonly id: number; readonly ended: Promise<CallEnd> } {
    this.last += 1;
    const id = this.last;
    const ended = new Promise<CallEnd>((resolve) => this.pending.set(id, resolve));
    if (this.socket.ended !== undefined) this.lost();
    else this.say({ id, method, params: this.era === 'modern' ? { ...params, _meta: ENVELOPE } : params });
    return { id, ended };
  }

  call(name: string, given: object): Promise<CallEnd> {
    return this.ask('tools/call', { name, arguments: given }).ended;
  }

  /** False where it has ended. Its answer may be under way. */
  cancel(id: number): boolean {
    if (!this.pending.delete(id)) return false;
    this.cancelled.add(id);
    this.notify('notifications/cancelled', { requestId: id });
    return true;
  }

  close(): void {
    this.socket.close();
  }

  private notify(method: string, params: object): void {
    this.say({ method, params });
  }

  private say(message: object): void {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  private lost(): void {
    for (const resolve of this.pending.values()) resolve({ kind: 'lost' });
    this.pending.clear();
  }

  private heard(message: Readonly<Record<string, unknown>>): void {
    if ('method' in message) return;
    const resolve = this.pending.get(Number(message.id));
    if (resolve === undefined) {
      if (!this.cancelled.delete(Number(message.id))) this.violations.push(`unasked: ${JSON.stringify(message)}`);
      return;
    }
    this.pending.delete(Number(message.id));
    resolve(endOf(message));
  }
}

function endOf({ result, error }: Readonly<Record<string, unknown>>): CallEnd {
  return error === undefined ? { kind: 'text', text: textOf(result) } : failure(error);
}

/** What an error is told by: the reason in its data, else its code, else its own text. */
export function failure(error: unknown): CallEnd {
  const fields = typeof error === 'object' && error !== null ? error : {};
  const data = 'data' in fields && typeof fields.data === 'object' && fields.data !== null ? fields.data : {};
  const code = 'code' in fields ? String(fields.code) : String(error);
  return { kind: 'error', reason: 'reason' in data ? String(data.reason) : code };
}

/** The first text of a tool's result; of any other result, nothing. */
export function textOf(result: unknown): string {
  const content = typeof result === 'object' && result !== null && 'content' in result ? result.content : undefined;
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return typeof first === 'object' && first !== null && 'text' in first ? String(first.text) : '';
}
