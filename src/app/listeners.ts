import type { ResourceOptions } from '../auth/challenge.ts';
import type { Tickets } from '../auth/ticket.ts';
import type { Config } from '../config/schema.ts';
import { type Certify, jwtAuthentication, ticketRedemption } from '../http/authenticate.ts';
import { startTcpListener, type TcpListenerDeps } from '../http/tcp-listener.ts';
import type { Tls } from '../http/tls.ts';
import type { UpgradeOptions } from '../http/upgrade.ts';
import { defaultHosts } from '../policy/origin.ts';
import type { Verifier } from '../ports/verifier.ts';
import type { Shared } from './shared.ts';

/** Sockets of a listener beside those of sessions and those being judged: most are being told that they were refused. */
const SPARE_SOCKETS = 512;

/** What a connection brings beside a token. */
export interface Ways {
  readonly tls: Tls | undefined;
  /** Absent in anonymous mode, where certificates are not asked. */
  readonly certify: Certify | undefined;
  readonly tickets: Tickets;
}

/** Undefined where the configuration has no `listen.tcp`. */
export async function startTcp({ config }: Shared, { tls, certify }: Omit<Ways, 'tickets'>, deps: TcpListenerDeps) {
  const { auth, limits, listen: main } = config;
  if (main.tcp === null) return undefined;
  const own = { at: main.tcp, tls: main.tcp.socket === undefined ? tls : undefined, certify };
  const maxSockets = socketsFor(limits);
  return startTcpListener({ ...limits, ...own, maxSockets, anonymousRoles: auth.anonymousRoles }, deps);
}

function socketsFor({ connections, handshakes }: Config['limits']): number {
  return connections + handshakes.pending + SPARE_SOCKETS;
}

export function upgradeOptions(
  { config, meter }: Shared,
  verifier: Verifier | undefined,
  { tls, certify, tickets }: Ways,
): Omit<UpgradeOptions, 'pressure'> {
  const { auth, listen: main, limits } = config;
  const resource: ResourceOptions | undefined = auth.mode === 'jwt' ? auth : undefined;
  const jwt =
    verifier === undefined || resource === undefined || certify === undefined
      ? undefined
      : {
          resource,
          certify,
          tickets,
          authenticate: jwtAuthentication(verifier, resource, meter),
          redeem: ticketRedemption(tickets, resource, meter),
        };
  return {
    path: main.path,
    maxMessage: limits.maxMessage,
    maxSockets: socketsFor(limits),
    hosts: config.hosts ?? defaultHosts({ resource: resource?.resource, listenHost: main.host }),
    origins: config.origins,
    anonymousRoles: auth.anonymousRoles,
    tls,
    ...(jwt === undefined ? {} : { jwt }),
  };
}
