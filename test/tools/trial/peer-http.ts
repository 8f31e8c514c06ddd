import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Peer } from './peer.ts';

export interface HttpPeer {
  readonly url: string;
  /** Connections on which a call waits for its answer now, with the text of the call. */
  readonly busy: ReadonlyMap<Socket, string>;
  close(): void;
}

/** Milliseconds an idle connection stays: short, so that what the gateway holds is soon what it needs. */
const KEEP_ALIVE = 1000;

/** A handshake peer over Streamable HTTP: each answer is JSON, or an event stream where the call has progress. No stream of its own. */
export async function serveHttpPeer(key: string): Promise<HttpPeer> {
  const busy = new Map<Socket, string>();
  const server = createServer((request, response) => {
    void respond(key, busy, request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => socket.once('close', () => busy.delete(socket)));
  server.keepAliveTimeout = KEEP_ALIVE;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    busy,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function respond(key: string, busy: Map<Socket, string>, request: IncomingMessage, response: ServerResponse) {
  if (request.method !== 'POST') return response.writeHead(request.method === 'DELETE' ? 204 : 405).end();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { id, method, params = {} } = JSON.parse(Buffer.concat(chunks).toString());
  if (id === undefined || method === undefined) return response.writeHead(202).end();
  const events: object[] = [];
  const { socket } = request;
  const peer = new Peer({ key, era: 'handshake', asks: false }, (message) => events.push(message), {
    began: (text) => busy.set(socket, text),
    ended: () => busy.delete(socket),
  });
  const answer = await peer.answerTo(id, method, params);
  const message = { jsonrpc: '2.0', id, ...answer };
  const session = method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {};
  if (events.length === 0)
    return response.writeHead(200, { 'content-type': 'application/json', ...session }).end(JSON.stringify(message));
  response.writeHead(200, { 'content-type': 'text/event-stream', ...session });
  return response.end([...events, message].map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}
