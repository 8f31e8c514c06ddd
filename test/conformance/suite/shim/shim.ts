import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Listening, listen } from '../listen.ts';
import { dial, type Refused } from './dial.ts';
import { claimsRevision, mismatch } from './envelope.ts';
import { type Frame, readFrame } from './frame.ts';
import { ModernSocket } from './modern-socket.ts';
import { HttpSession } from './session.ts';

export interface Shim extends Listening {
  /** Says where the gateway is; once, before the first request. The gateway must be told of the shim's origin before. */
  connectTo(gatewayUrl: string): void;
}

/**
 * Streamable HTTP on one side; on the other a WebSocket to the gateway for each handshake session, and one for the
 * modern requests of one Host and Origin. Session ids, streams, headers and HTTP statuses are the shim's; every message
 * is passed as it came, in both directions, but for the ids of modern requests.
 */
export async function startShim(): Promise<Shim> {
  const sides = new Sides();
  const listening = await listen(
    createServer((request, response) => {
      sides.handle(request, response).catch(() => response.destroy());
    }),
  );
  return {
    url: listening.url,
    connectTo: (url) => {
      sides.gateway = url;
    },
    async close() {
      await sides.close();
      await listening.close();
    },
  };
}

class Sides {
  gateway = '';
  readonly #sessions = new Map<string, HttpSession>();
  readonly #modern = new Map<string, Promise<ModernSocket | Refused>>();

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    if (request.method === 'POST') return this.#post(request, response, typeof id === 'string' ? id : undefined);
    const session = this.#sessions.get(String(id));
    if (request.method !== 'GET' && request.method !== 'DELETE') return refuse(response, 405);
    if (session === undefined) return refuse(response, id === undefined ? 400 : 404);
    if (request.method === 'GET') return session.listen(response);
    await session.close();
    response.writeHead(200).end();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
    for (const opening of this.#modern.values()) {
      const socket = await opening;
      if (!('status' in socket)) await socket.close();
    }
  }

  async #post(request: IncomingMessage, response: ServerResponse, id: string | undefined): Promise<void> {
    const frame = readFrame(await bodyOf(request));
    if (frame === undefined) return refuse(response, 400);
    if (id === undefined && frame.method === 'initialize' && !claimsRevision(frame.message)) {
      return this.#begin(request, response, frame);
    }
    if (id === undefined) return this.#exchange(request, response, frame);
    const session = this.#sessions.get(id);
    if (session === undefined) return refuse(response, 404);
    session.post(frame, response);
  }

  async #begin(request: IncomingMessage, response: ServerResponse, frame: Frame): Promise<void> {
    const socket = await dial(this.gateway, request);
    if ('status' in socket) return refuse(response, socket.status);
    const session: HttpSession = new HttpSession(socket, () => this.#sessions.delete(session.id));
    this.#sessions.set(session.id, session);
    session.post(frame, response);
  }

  async #exchange(request: IncomingMessage, response: ServerResponse, frame: Frame): Promise<void> {
    const header = mismatch(request.headers, frame.message);
    if (frame.kind === 'request' && header !== undefined) return refuseHeader(response, frame, header);
    const socket = await this.#modernSocket(request);
    if ('status' in socket) return refuse(response, socket.status);
    socket.post(frame, response);
  }

  #modernSocket(request: IncomingMessage): Promise<ModernSocket | Refused> {
    const { host, origin, authorization } = request.headers;
    const asker = JSON.stringify([host, origin, authorization]);
    const known = this.#modern.get(asker);
    if (known !== undefined) return known;
    const forget = () => this.#modern.delete(asker);
    const opening = dial(this.gateway, request).then((socket) => {
      if (!('status' in socket)) return new ModernSocket(socket, forget);
      forget();
      return socket;
    });
    this.#modern.set(asker, opening);
    opening.catch(forget);
    return opening;
  }
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** HeaderMismatch (MCP 2026-07-28). */
function refuseHeader(response: ServerResponse, { message }: Frame, header: string): void {
  const error = { code: -32020, message: `${header} does not match the message` };
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
