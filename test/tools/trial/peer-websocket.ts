import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { Peer, type PeerEra, type PeerEvents } from './peer.ts';

export interface PeerServer {
  readonly url: string;
  close(): void;
}

/** A peer over WebSocket, one for each connection. */
export async function servePeer(key: string, era: PeerEra, events: PeerEvents = {}): Promise<PeerServer> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  server.on('connection', (socket) => {
    const peer = new Peer({ key, era, asks: true }, (message) => socket.send(JSON.stringify(message)), events);
    socket.on('error', () => {});
    socket.on('message', (data) => peer.take(JSON.parse(String(data))));
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    close: () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}
