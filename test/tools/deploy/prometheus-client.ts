import { once } from 'node:events';
import WebSocket from 'ws';

/** No step of the load takes longer. */
const STEP_MS = 15_000;
/** The second replica serves a certificate of its own making. */
const ANYONE = { rejectUnauthorized: false };

/** A client on one socket. What it waits for comes within `STEP_MS`, or it gives up. */
export class Client {
  readonly socket: WebSocket;
  private lastId = 0;
  private readonly waiting = new Map<number, () => void>();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('message', (data) => this.heard(String(data)));
  }

  /** With its handshake done. */
  static async open(url: string, token: string | undefined): Promise<Client> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const client = new Client(new WebSocket(url, 'mcp', { ...ANYONE, headers }));
    await once(client.socket, 'open', { signal: AbortSignal.timeout(STEP_MS) });
    const clientInfo = { name: 'load', version: '1' };
    await client.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    client.send({ method: 'notifications/initialized' });
    return client;
  }

  send(message: object): void {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  /** Sends a request and waits for no answer. */
  begin(method: string, params: object = {}): number {
    this.lastId += 1;
    this.send({ id: this.lastId, method, params });
    return this.lastId;
  }

  /** Resolves when it is answered, whatever the answer is. */
  async ask(method: string, params: object = {}): Promise<void> {
    const id = this.begin(method, params);
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method} was not answered`)), STEP_MS);
      this.waiting.set(id, () => resolve(clearTimeout(late)));
    });
  }

  call(name: string, given: object = {}): Promise<void> {
    return this.ask('tools/call', { name, arguments: given });
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, 'close', { signal: AbortSignal.timeout(STEP_MS) });
    this.socket.close();
    await closed;
  }

  private heard(text: string): void {
    const { id } = JSON.parse(text) as { id?: unknown };
    if (typeof id !== 'number') return;
    this.waiting.get(id)?.();
    this.waiting.delete(id);
  }
}

/** An upgrade that must not succeed. */
export async function refused(url: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const socket = new WebSocket(url, 'mcp', { ...ANYONE, headers });
  const signal = AbortSignal.timeout(STEP_MS);
  const opened = once(socket, 'open', { signal }).then(() => 'open');
  const answer = await Promise.race([opened, once(socket, 'unexpected-response', { signal }).then(() => 'refused')]);
  opened.catch(() => {});
  socket.on('error', () => {});
  socket.terminate();
  if (answer === 'open') throw new Error('an upgrade that should be refused was accepted');
}
