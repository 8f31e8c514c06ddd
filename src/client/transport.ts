import { type Carriage, carry } from './carriage.ts';
import type { Heartbeat } from './heartbeat.ts';
import { type JsonRpcMessage, readFrame } from './message.ts';
import { type DroppedMessage, type OpenSocket, openSocket, type SocketEnd } from './socket.ts';

export interface WebSocketClientOptions {
  /** ws or wss. */
  readonly url: string | URL;
  /** The bearer token, or how to get one; asked for once, when the transport starts. */
  readonly token?: string | (() => string | Promise<string>);
  /** How the token travels: the `Authorization` header (default), or a subprotocol where headers cannot be set. `ticket`: what `token` is or gets is a one-time ticket, which goes into the query. */
  readonly carriage?: Carriage;
  /** Bytes of one message from the server, 16 MiB by default. A longer one is dropped and told to `onerror`; one of four times that ends the connection. */
  readonly maxMessage?: number;
  /** By default a ping at least every 25 s, whose pong may take 10 s. */
  readonly heartbeat?: Heartbeat;
  /** Further headers of the upgrade. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a connection has ended; `docs/PROTOCOL.md` says what each code asks of a client (4401: reconnect with a fresh token). */
export interface Closed {
  readonly code: number;
  readonly reason: string;
  /** The server's hint when to reconnect. */
  readonly retryAfterMs?: number;
}

const MAX_MESSAGE = 16 * 1024 * 1024;
const HEARTBEAT: Heartbeat = { pingInterval: 25_000, pongTimeout: 10_000 };

/**
 * MCP over one WebSocket, for the clients of the official SDKs (the `Transport` of 1.x and of 2.x). Install the callbacks,
 * then start it, once; `Client.connect` does both. `onclose` is called once for each transport that was started or closed.
 */
export class WebSocketClientTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JsonRpcMessage, extra?: unknown) => void) | undefined;
  readonly #options: WebSocketClientOptions;
  readonly #url: URL;
  readonly #ending = new AbortController();
  #state: 'new' | 'opening' | 'open' | 'closing' | 'closed' = 'new';
  #socket: OpenSocket | undefined;
  #closed: Closed | undefined;

  /** Throws a TypeError when the URL is no ws or wss URL. */
  constructor(options: WebSocketClientOptions) {
    this.#url = new URL(options.url);
    if (!/^wss?:$/.test(this.#url.protocol)) throw new TypeError('the URL is no ws or wss URL');
    this.#options = options;
  }

  /** Set before `onclose` is called, where a connection had been open. */
  get closed(): Closed | undefined {
    return this.#closed;
  }

  /** Resolves when the connection is open. Rejects with an UpgradeRefusedError when the server answered with an HTTP status. */
  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('a transport starts once: make a new one');
    this.#state = 'opening';
    try {
      this.#socket = await this.#open();
      this.#opened();
    } catch (error) {
      this.#finish();
      throw error;
    }
  }

  /** Resolves when the message has been handed to the network; rejects when it cannot be. `options` of the SDKs have no meaning here. */
  send(message: JsonRpcMessage, _options?: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const text = JSON.stringify(message);
      const done = (error?: Error | null) => (error ? reject(error) : resolve());
      if (this.#state !== 'open' || this.#socket?.send(text, done) !== true) reject(new Error('not connected'));
    });
  }

  /** Idempotent; resolves when the socket is gone. No message is delivered any more. */
  async close(): Promise<void> {
    const wasOpen = this.#state === 'open' || this.#state === 'closing';
    if (this.#state === 'open') this.#state = 'closing';
    this.#ending.abort(new Error('the transport was closed'));
    if (!wasOpen) this.#finish();
    await this.#socket?.close();
  }

  async #open(): Promise<OpenSocket> {
    const { token, carriage = 'header', headers = {}, maxMessage = MAX_MESSAGE, heartbeat = HEARTBEAT } = this.#options;
    const carried = carry(await this.#unlessClosed(typeof token === 'function' ? token() : token), carriage);
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries(carried.query)) url.searchParams.set(name, value);
    return openSocket(
      {
        url,
        maxMessage,
        heartbeat,
        // The SDKs lose the progress of a call whose result they read in one turn with it.
        inOneTurn: 'one',
        protocols: carried.protocols,
        headers: { ...headers, ...carried.headers },
      },
      {
        message: (text) => this.#received(text),
        dropped: (dropped) => this.#guarded(() => this.onerror?.(droppedError(dropped))),
        closed: (end) => this.#ended(end),
      },
      this.#ending.signal,
    );
  }

  /** The transport may have been closed between the socket's opening and now. */
  #opened(): void {
    if (this.#state === 'opening') this.#state = 'open';
    else void this.#socket?.close();
    this.#ending.signal.throwIfAborted();
  }

  #unlessClosed<T>(task: T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#ending.signal.addEventListener('abort', () => reject(this.#ending.signal.reason), { once: true });
      Promise.resolve(task).then(resolve, reject);
    });
  }

  #received(text: string): void {
    if (this.#state !== 'opening' && this.#state !== 'open') return;
    const messages = readFrame(text);
    if (messages === undefined) return this.#guarded(() => this.onerror?.(new Error('a frame was not JSON-RPC')));
    for (const message of messages) this.#guarded(() => this.onmessage?.(message));
  }

  #ended({ code, reason, cause }: SocketEnd): void {
    const retry = /(?:^| )retry=(\d{1,9})$/.exec(reason)?.[1];
    this.#closed = { code, reason, ...(retry === undefined ? {} : { retryAfterMs: Number(retry) }) };
    if (cause !== undefined && this.#state === 'open') this.#guarded(() => this.onerror?.(cause));
    this.#finish();
  }

  #finish(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#guarded(() => this.onclose?.());
  }

  /** What a callback throws is told to `onerror`; it must not end the process from inside a socket's event. */
  #guarded(task: () => void): void {
    try {
      task();
    } catch (error) {
      try {
        this.onerror?.(error instanceof Error ? error : new Error('a callback threw', { cause: error }));
      } catch {
        // Nobody is left to be told.
      }
    }
  }
}

function droppedError({ why, bytes }: DroppedMessage): Error {
  return new Error(
    why === 'binary' ? 'a binary message was dropped' : `a message of ${bytes} bytes was dropped: too large`,
  );
}
