import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Identity, type Principal, principalKey, principalOf } from '../auth/principal.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { acceptTcp, type BindTcp, type TcpLimits } from '../transport/tcp.ts';
import { anonymous } from './anonymous.ts';
import type { Certify } from './authenticate.ts';
import type { TcpAddress } from './listen.ts';
import type { Pending } from './pending.ts';
import type { Slots } from './slots.ts';
import type { Tls } from './tls.ts';
import { watchHandshakes } from './tls-handshakes.ts';

export interface TcpListenerOptions extends TcpLimits {
  /** An address and port (0 takes a free one), or the path of a Unix socket. */
  readonly at: { readonly host?: string; readonly port?: number; readonly socket?: string };
  readonly anonymousRoles: readonly string[];
  /** Absent: lines come in the clear. Never of a Unix socket. */
  readonly tls: Tls | undefined;
  /** Who a caller is by its certificate; absent in anonymous mode. */
  readonly certify: Certify | undefined;
}

export interface TcpListenerDeps {
  readonly slots: Slots;
  readonly pending: Pending;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly draining: () => boolean;
  /** Gives a connection that began with a request its session, synchronously. */
  readonly accept: (session: string, principal: Principal, bind: BindTcp) => void;
}

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

/** A slot is held until the socket is gone, whatever becomes of it. */
function welcome(socket: Socket, options: TcpListenerOptions, deps: TcpListenerDeps): void {
  const { log, meter, slots } = deps;
  const refused = (reason: string) => {
    meter.counter('connections_refused_total', { reason }).add();
    log.info('tcp_refused', { reason });
    socket.destroy();
  };
  socket.on('error', () => {});
  if (deps.draining()) return refused('draining');
  const session = randomUUID();
  const identified = identify(session, socket, options);
  if ('refused' in identified) return refused(identified.refused);
  const { identity } = identified;
  const slot = slots.reserve(principalKey(identity));
  if (typeof slot === 'string') return refused(slot);
  socket.once('close', slot);
  const principal = principalOf(identity, { address: socket.remoteAddress ?? '', via: 'tcp' });
  acceptTcp(socket, options, deps, {
    opened: (bind) => (deps.draining() ? refused('draining') : deps.accept(session, principal, bind)),
    refused,
  });
}

function identify(
  session: string,
  socket: Socket,
  { anonymousRoles, certify }: TcpListenerOptions,
): { readonly identity: Identity } | { readonly refused: string } {
  return certify === undefined ? { identity: anonymous(session, anonymousRoles) } : certify(socket);
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
