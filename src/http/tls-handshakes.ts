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
 * Counts a server's handshakes under way among what is pending, cuts those beyond the bound, and ends those that fail
 * or take too long (`handshakeTimeout` of the server). Returns the way to cut every connection there is, and each that still comes.
 */
export function watchHandshakes(server: Server, { gate, pending, log, meter }: HandshakeDeps): () => void {
  const sockets = new Set<Socket>();
  let isOver = false;
  const refused = (reason: string, code?: string) => {
    meter.counter('connections_refused_total', { reason }).add();
    logRefusal('tls_refused', { reason, ...(code === undefined ? {} : { code }) }, log);
  };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const isTooMany = pending.isFull;
    pending.enter();
    if (isOver) socket.destroy();
    const reason = gate.handshake(socket)?.refused ?? (isTooMany ? 'pending' : undefined);
    if (reason === undefined) return;
    refused(reason);
    socket.destroy();
  });
  // Each connection that came ends in exactly one of these two, also one that was cut before. First of all listeners, which judge it.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    pending.leave();
    gate.handshaken(socket);
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    pending.leave();
    // A peer that just went, or was cut above, was refused nothing here.
    if (error.code !== 'ECONNRESET') refused('tls_handshake', error.code);
    socket.destroy();
  });
  return () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
}
