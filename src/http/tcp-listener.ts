import { once } from 'node:events';
import { unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { limitSockets } from './limit-sockets.ts';
import type { TcpAddress } from './listen.ts';
import { type WelcomeDeps, type WelcomeOptions, welcome } from './tcp-welcome.ts';
import type { Tls } from './tls.ts';
import { watchHandshakes } from './tls-handshakes.ts';

export interface TcpListenerOptions extends WelcomeOptions {
  /** An address and port (0 takes a free one), or the path of a Unix socket. */
  readonly at: { readonly host?: string; readonly port?: number; readonly socket?: string };
  /** Absent: lines come in the clear. Never of a Unix socket. */
  readonly tls: Tls | undefined;
  /** Sockets the listener holds at once, whatever they are. */
  readonly maxSockets: number;
}

export type TcpListenerDeps = WelcomeDeps;

export interface TcpListener {
  readonly address: TcpAddress;
  /** Takes no more connections and cuts those that have no session. Resolves when none is left. */
  close(): Promise<void>;
}

const KEPT_ALIVE = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 };

/** Starts the listener for newline-delimited messages; resolves when it accepts connections, rejects with one sentence for the operator. */
export async function startTcpListener(options: TcpListenerOptions, deps: TcpListenerDeps): Promise<TcpListener> {
  const welcomed = (socket: Socket) => welcome(socket, options, deps);
  const { server, cut } =
    options.tls === undefined ? plainServer(welcomed) : tlsServer(options.tls, options, deps, welcomed);
  limitSockets(server, options.maxSockets, deps.meter);
  await listening(server, options.at);
  const address = addressOf(server, options.at);
  deps.log.info('tcp_listening', { ...address });
  return {
    address,
    async close() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}

interface LineServer {
  readonly server: Server;
  /** Cuts every connection. */
  readonly cut: () => void;
}

function plainServer(welcomed: (socket: Socket) => void): LineServer {
  const sockets = new Set<Socket>();
  const server = createServer(KEPT_ALIVE, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    welcomed(socket);
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { server, cut };
}

/** Where callers are known by certificates nobody gets through the handshake without a good one, whatever `clientAuth` lets pass elsewhere. */
function tlsServer(
  tls: Tls,
  { certify, firstMessage }: TcpListenerOptions,
  deps: TcpListenerDeps,
  welcomed: (socket: Socket) => void,
): LineServer {
  const required = certify === undefined ? {} : { requestCert: true, rejectUnauthorized: true };
  const options = { ...KEPT_ALIVE, ...tls.options(), ...required, handshakeTimeout: firstMessage };
  const server = createTlsServer(options, welcomed);
  tls.serve(server);
  return { server, cut: watchHandshakes(server, deps) };
}

async function listening(server: Server, at: TcpListenerOptions['at']): Promise<void> {
  const where = at.socket === undefined ? { host: hostOf(at), port: at.port ?? 0 } : { path: at.socket };
  try {
    if (at.socket !== undefined) await removeStale(at.socket);
    server.listen(where);
    await once(server, 'listening');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown cause';
    throw new Error(`cannot start the TCP listener: ${code} (listen.tcp)`, { cause });
  }
}

/** A Unix socket that nobody listens on is what a gateway left that was killed. */
async function removeStale(path: string): Promise<void> {
  const probe = connect({ path });
  try {
    await once(probe, 'connect');
  } catch (error) {
    const isStale = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
    if (isStale) await unlink(path);
  } finally {
    probe.destroy();
  }
}

function addressOf(server: Server, at: TcpListenerOptions['at']): TcpAddress {
  const bound = server.address();
  if (typeof bound === 'object' && bound !== null) return { host: bound.address, port: bound.port };
  return { socket: at.socket ?? '' };
}

function hostOf({ host = '127.0.0.1' }: TcpListenerOptions['at']): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
