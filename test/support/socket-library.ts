import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Library } from './library.ts';
import { createLibrary, makeWorld } from './upstreams/library-server.mjs';

/** A library behind sockets: a real SDK 1.x server for each connection. Gone when the test ends. */
export interface SocketLibrary extends Library {
  /** MCP sessions open now. */
  open(): number;
  /** Headers of the requests so far that opened one. */
  readonly requests: readonly IncomingMessage[];
  /** Stops listening and cuts every connection. */
  stop(): Promise<void>;
  /** Listens again where it did. */
  start(): Promise<void>;
}

type Entry = Readonly<Record<string, unknown>>;
export type OpenSocketLibrary = (entry?: Entry) => Promise<SocketLibrary>;

export const wsLibrary: OpenSocketLibrary = (entry) =>
  listen(entry, (port) => `ws://127.0.0.1:${port}/mcp`, serveWebSocket);

export const tcpLibrary: OpenSocketLibrary = (entry) => listen(entry, (port) => `tcp://127.0.0.1:${port}`, serveTcp);

export const sseLibrary: OpenSocketLibrary = (entry) =>
  listen({ type: 'sse', ...entry }, (port) => `http://127.0.0.1:${port}/sse`, serveSse);

interface Door {
  connect(transport: Transport, request?: IncomingMessage): Promise<void>;
}

async function listen(
  entry: Entry | undefined,
  urlOf: (port: number) => string,
  serve: (door: Door) => Server,
): Promise<SocketLibrary> {
  const record: string[] = [];
  const requests: IncomingMessage[] = [];
  const world = makeWorld({});
  const sockets = new Set<Socket>();
  let open = 0;
  let port = 0;
  let server: Server | undefined;
  const connect: Door['connect'] = async (transport, request) => {
    if (request !== undefined) requests.push(request);
    open += 1;
    const library = createLibrary(world, (line: string) => record.push(line));
    await library.connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      open -= 1;
      onclose?.();
    };
  };
  const start = async () => {
    const started = serve({ connect });
    server = started;
    started.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    started.listen(port, '127.0.0.1');
    await once(started, 'listening');
    const address = started.address();
    if (address !== null && typeof address === 'object') port = address.port;
  };
  const stop = async () => {
    const stopped = server;
    server = undefined;
    if (stopped === undefined) return;
    const closed = once(stopped, 'close');
    stopped.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await start();
  onTestFinished(stop);
  return {
    entry: { url: urlOf(port), ...entry },
    lines: () => record,
    hears: async () => {},
    open: () => open,
    requests,
    stop,
    start,
  };
}

function serveWebSocket({ connect }: Door): Server {
  const http = createHttpServer();
  const server = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, stream, head) =>
    server.handleUpgrade(request, stream, head, (socket) => void connect(overWebSocket(socket), request)),
  );
  return http;
}

/** The server's side of MCP over a WebSocket, for an SDK server. */
export function overWebSocket(socket: WebSocket): Transport {
  const transport: Transport = {
    start: async () => {
      socket.on('message', (data) => transport.onmessage?.(JSON.parse(data.toString())));
      socket.once('close', () => transport.onclose?.());
    },
    send: async (message) => socket.send(JSON.stringify(message)),
    close: async () => socket.close(),
  };
  return transport;
}

function serveTcp({ connect }: Door): Server {
  return createTcpServer((socket) => {
    const transport = new StdioServerTransport(socket, socket);
    socket.on('error', () => {});
    socket.once('close', () => void transport.close());
    void connect(transport);
  });
}

function serveSse({ connect }: Door): Server {
  const sessions = new Map<string, SSEServerTransport>();
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    if (request.method === 'POST') {
      const session = sessions.get(searchParams.get('sessionId') ?? '');
      return session === undefined ? response.writeHead(404).end() : session.handlePostMessage(request, response);
    }
    const transport = new SSEServerTransport('/messages', response);
    sessions.set(transport.sessionId, transport);
    await connect(transport, request);
  };
  return createHttpServer((request, response) => void handle(request, response));
}
