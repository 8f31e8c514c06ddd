import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type WebSocket from 'ws';
import { startEvents, writeEvent } from './event-stream.ts';
import { type Frame, readFrame } from './frame.ts';
import { route } from './route.ts';

/** What waits for a GET stream at most. */
const WAITING = 100;

/** One session of Streamable HTTP (MCP 2025-11-25, transports) and the one WebSocket that is its other half. */
export class HttpSession {
  readonly id: string = randomUUID();
  readonly #socket: WebSocket;
  readonly #posts = new Map<string, ServerResponse>();
  readonly #calls = new Map<string, string | undefined>();
  readonly #waiting: string[] = [];
  #listening: ServerResponse | undefined;

  /** `over` is called once, when the socket has closed. */
  constructor(socket: WebSocket, over: () => void) {
    this.#socket = socket;
    socket.on('message', (data) => this.#deliver(data.toString()));
    socket.on('error', () => socket.terminate());
    socket.once('close', () => {
      for (const response of [...this.#posts.values(), this.#listening]) response?.destroy();
      over();
    });
  }

  /** A message of the client: a request is answered by an event stream, anything else by 202. */
  post(frame: Frame, response: ServerResponse): void {
    if (frame.kind !== 'request' || frame.id === undefined) response.writeHead(202).end();
    else this.#open(frame.id, frame.token, response);
    this.#socket.send(frame.text);
  }

  /** The stream for what belongs to no call; one at a time. */
  listen(response: ServerResponse): void {
    if (this.#listening !== undefined) return void response.writeHead(409).end();
    this.#listening = response;
    response.once('close', () => {
      this.#listening = undefined;
    });
    startEvents(response, { 'mcp-session-id': this.id });
    for (const text of this.#waiting.splice(0)) writeEvent(response, text);
  }

  async close(): Promise<void> {
    const { readyState } = this.#socket;
    if (readyState === this.#socket.CLOSED) return;
    const closed = once(this.#socket, 'close');
    this.#socket.close(1000);
    await closed;
  }

  #open(id: string, token: string | undefined, response: ServerResponse): void {
    this.#posts.set(id, response);
    this.#calls.set(id, token);
    response.once('close', () => this.#forget(id));
    startEvents(response, { 'mcp-session-id': this.id });
  }

  #deliver(text: string): void {
    const frame = readFrame(text);
    if (frame === undefined) return this.#socket.close(1007);
    const where = route(frame, this.#calls);
    if (where === 'listening') return this.#unasked(text);
    const response = this.#posts.get(where.post);
    if (response === undefined) return;
    writeEvent(response, text);
    if (frame.kind !== 'response') return;
    this.#forget(where.post);
    response.end();
  }

  #unasked(text: string): void {
    if (this.#listening !== undefined) writeEvent(this.#listening, text);
    else if (this.#waiting.push(text) > WAITING) this.#socket.close(1011);
  }

  #forget(id: string): void {
    this.#posts.delete(id);
    this.#calls.delete(id);
  }
}
