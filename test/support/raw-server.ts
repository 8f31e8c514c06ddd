import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { queue } from './stdio/puppet.ts';

export interface RawPeer {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** The next frame the client sent, as text. */
  next(): Promise<string>;
}

export interface RawServer {
  readonly url: string;
  /** The client that connects next. */
  accept(): Promise<RawPeer>;
}

export interface RawServerOptions {
  /** Sent with the opening, before anything else. */
  readonly greeting?: readonly string[];
  /** false: pings are never answered. */
  readonly autoPong?: boolean;
  /** Answers every upgrade with this in place of 101. */
  readonly refuse?: { readonly status: number; readonly headers: Readonly<Record<string, string>> };
}

/** A bare WebSocket server on 127.0.0.1 that a test moves. Gone when the test ends. */
export async function rawServer({ greeting = [], autoPong = true, refuse }: RawServerOptions = {}): Promise<RawServer> {
  const http = createServer();
  const server = new WebSocketServer({ noServer: true, autoPong });
  const peers = queue<RawPeer>();
  http.on('upgrade', (request, stream, head) => {
    if (refuse !== undefined) return void stream.end(refusal(refuse));
    server.handleUpgrade(request, stream, head, (socket) => {
      const inbox = queue<string>();
      socket.on('message', (data) => inbox.put(data.toString()));
      socket.on('error', () => {});
      for (const message of greeting) socket.send(message);
      peers.put({ socket, request, next: inbox.take });
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(async () => {
    for (const socket of server.clients) socket.terminate();
    http.close();
    await once(http, 'close');
  });
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return { url: `ws://127.0.0.1:${address.port}/mcp`, accept: peers.take };
}

function refusal({ status, headers }: NonNullable<RawServerOptions['refuse']>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Refused\r\n${lines.join('')}connection: close\r\ncontent-length: 0\r\n\r\n`;
}
