import type { ConnectionOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { type FrameTap, type FrameTapOptions, tapFrames } from './frame-tap.ts';

export interface RawClientOptions extends FrameTapOptions {
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a wss URL: whom to believe, and the certificate to show. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'maxVersion' | 'session'>;
}

export interface Close {
  readonly code: number;
  readonly reason: string;
}

/** A bare WebSocket that speaks frames: none is missed, whenever it is asked for, and the tap hears each. */
export class RawClient {
  readonly socket: WebSocket;
  /** Resolves when the socket has closed. */
  readonly closed: Promise<Close>;
  private readonly frames: string[] = [];
  private waiter: ((frame: string) => void) | undefined;
  private end: Close | undefined;
  /** To be told of what is sent past `send`. */
  readonly tap: FrameTap;

  constructor(socket: WebSocket, tap: FrameTap) {
    this.socket = socket;
    this.tap = tap;
    socket.on('message', (data, isBinary) => {
      if (isBinary) throw new Error('a binary frame');
      this.take(data.toString());
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        this.end = { code, reason: reason.toString() };
        resolve(this.end);
      });
    });
  }

  send(message: unknown): void {
    const frame = typeof message === 'string' ? message : JSON.stringify(message);
    this.tap.sent(frame);
    this.socket.send(frame);
  }

  /** The next frame, as text. */
  async next(): Promise<string> {
    const frame = this.frames.shift();
    if (frame !== undefined) return frame;
    if (this.end !== undefined) throw new Error(`closed ${this.end.code} ${this.end.reason}`);
    return new Promise((resolve, reject) => {
      this.waiter = resolve;
      void this.closed.then(({ code, reason }) => reject(new Error(`closed ${code} ${reason}`)));
    });
  }

  /** The next frame, parsed. */
  async json(): Promise<unknown> {
    return JSON.parse(await this.next());
  }

  /** Sends a message and returns the next frame, parsed. */
  ask(message: unknown): Promise<unknown> {
    this.send(message);
    return this.json();
  }

  /** A ping and its answer: whatever the gateway had to say before has been read by then. Returns the frames before it. */
  async barrier(id = 'barrier'): Promise<string[]> {
    this.send({ jsonrpc: '2.0', id, method: 'ping' });
    const before: string[] = [];
    for (
      let frame = await this.next();
      frame !== `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}`;
      frame = await this.next()
    ) {
      before.push(frame);
    }
    return before;
  }

  /** The handshake; returns the result of `initialize`. */
  async initialize(protocolVersion = '2025-11-25', capabilities: object = {}): Promise<unknown> {
    const clientInfo = { name: 'raw', version: '0' };
    const answer = await this.ask({
      jsonrpc: '2.0',
      id: 'init',
      method: 'initialize',
      params: { protocolVersion, capabilities, clientInfo },
    });
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  private take(frame: string): void {
    this.tap.received(frame);
    const { waiter } = this;
    this.waiter = undefined;
    if (waiter === undefined) this.frames.push(frame);
    else waiter(frame);
  }
}

/** Connects; rejects with `HTTP <status>` when the upgrade is refused. Terminated, and its frames judged, when the test ends. */
export function connectRaw(url: string, options: RawClientOptions = {}): Promise<RawClient> {
  const socket = new WebSocket(url, [...(options.protocols ?? ['mcp'])], {
    ...options.tls,
    headers: { ...options.headers },
  });
  const client = new RawClient(socket, tapFrames(options));
  onTestFinished(() => socket.terminate());
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(client));
    socket.once('unexpected-response', (_request, response) => reject(new Error(`HTTP ${response.statusCode}`)));
    socket.once('error', reject);
  });
}

/** Connects and completes the handshake, declaring these capabilities. */
export async function openRaw(
  url: string,
  options: RawClientOptions = {},
  capabilities: object = {},
): Promise<RawClient> {
  const client = await connectRaw(url, options);
  await client.initialize('2025-11-25', capabilities);
  return client;
}
