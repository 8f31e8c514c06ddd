import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { Pending } from './pending.ts';

export interface HandshakeDeps {
  readonly pending: Pending;
  readonly log: Log;
  readonly meter: Meter;
}

/**
 * Counts a server's handshakes under way among what is pending, cuts those beyond the bound, and ends those that fail
 * or take too long (`handshakeTimeout` of the server). Returns the way to cut every connection there is, and each that still comes.
 */
export function watchHandshakes(server: Server, { pending, log, meter }: HandshakeDeps): () => void {
  const sockets = new Set<Socket>();
  let isOver = false;
  const refused = (reason: string, code?: string) => {
    meter.counter('connections_refused_total', { reason }).add();
    log.info('tls_refused', { reason, ...(code === undefined ? {} : { code }) });
  };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const isTooMany = pending.isFull;
    pending.enter();
    if (isTooMany) refused('pending');
    if (isTooMany || isOver) socket.destroy();
  });
  // Each connection that came ends in exactly one of these two, also one that was cut before.
  server.on('secureConnection', () => pending.leave());
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
