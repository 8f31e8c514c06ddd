import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { logRefusal } from './audit-auth.ts';
import type { Gate } from './gate.ts';
import type { Pending } from './pending.ts';

export interface HandshakeDeps {
  readonly gate: Gate;
  readonly pending: Pending;
  readonly log: Log;
  readonly meter: Meter;
}

/**
 * Of too many handshakes under way on a server the oldest is cut, so that who says nothing keeps nobody out; those that fail or
 * take too long (`handshakeTimeout` of the server) end. Returns the way to cut every connection there is, and each that still comes.
 */
export function watchHandshakes(server: Server, { gate, pending, log, meter }: HandshakeDeps): () => void {
  const sockets = new Set<Socket>();
  /** By the peer's address and port, the oldest first. */
  const underWay = new Map<string, Socket>();
  let isOver = false;
  const refused = (reason: string, code?: string) => {
    meter.counter('connections_refused_total', { reason }).add();
    logRefusal('tls_refused', { reason, ...(code === undefined ? {} : { code }) }, log);
  };
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      if (underWay.get(peer) === socket) underWay.delete(peer);
    });
    if (isOver) return void socket.destroy();
    const turnedAway = gate.handshake(socket)?.refused;
    if (turnedAway === undefined) return begin(peer, socket);
    refused(turnedAway);
    socket.destroy();
  });
  const begin = (peer: string, socket: Socket) => {
    const [oldest] = underWay;
    if (oldest !== undefined && underWay.size >= pending.max) {
      underWay.delete(oldest[0]);
      oldest[1].destroy();
      refused('pending');
    }
    underWay.set(peer, socket);
  };
  // First of all listeners, which judge it.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    underWay.delete(peerOf(socket));
    gate.handshaken(socket);
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    // A peer that just went, or was cut above, was refused nothing here.
    if (error.code !== 'ECONNRESET') refused('tls_handshake', error.code);
    socket.destroy();
  });
  return () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
}

/** A handshake and the connection it ends in have the same. */
function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
