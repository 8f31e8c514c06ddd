import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Stands between a client and a server on loopback, and can fail as a network does. */
export interface TcpProxy {
  readonly port: number;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  /** Keeps every connection, old and new, and passes nothing on: a half-open link. */
  silence(): void;
  /** Lets new connections through; those that were silenced end. */
  mend(): void;
}

type Way = 'open' | 'cut' | 'silent';

export async function tcpProxy(target: number): Promise<TcpProxy> {
  let way: Way = 'open';
  const sockets = new Set<Socket>();
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  };
  const server = createServer((client) => {
    keep(client);
    if (way === 'cut') client.destroy();
    if (way !== 'open') return;
    const upstream = connect(target, '127.0.0.1');
    keep(upstream);
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    endAll();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return {
    port: address.port,
    cut() {
      way = 'cut';
      endAll();
    },
    silence() {
      way = 'silent';
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend() {
      if (way === 'silent') endAll();
      way = 'open';
    },
  };
}
