import type { ResourceOptions } from '../auth/challenge.ts';
import { type Certify, jwtAuthentication } from '../http/authenticate.ts';
import { startTcpListener, type TcpListenerDeps } from '../http/tcp-listener.ts';
import type { Tls } from '../http/tls.ts';
import type { UpgradeOptions } from '../http/upgrade.ts';
import { defaultHosts } from '../policy/origin.ts';
import type { Verifier } from '../ports/verifier.ts';
import type { Shared } from './shared.ts';

/** What a connection brings beside a token. */
export interface Ways {
  readonly tls: Tls | undefined;
  /** Absent in anonymous mode, where certificates are not asked. */
  readonly certify: Certify | undefined;
}

/** Undefined where the configuration has no `listen.tcp`. */
export async function startTcp({ config }: Shared, { tls, certify }: Ways, deps: TcpListenerDeps) {
  const { auth, limits, listen: main } = config;
  if (main.tcp === null) return undefined;
  const own = { at: main.tcp, tls: main.tcp.socket === undefined ? tls : undefined, certify };
  return startTcpListener({ ...limits, ...own, anonymousRoles: auth.anonymousRoles }, deps);
}

export function upgradeOptions(
  { config, meter }: Shared,
  verifier: Verifier | undefined,
  { tls, certify }: Ways,
): UpgradeOptions {
  const { auth, listen: main, limits } = config;
  const resource: ResourceOptions | undefined = auth.mode === 'jwt' ? auth : undefined;
  const jwt =
    verifier === undefined || resource === undefined || certify === undefined
      ? undefined
      : { resource, certify, authenticate: jwtAuthentication(verifier, resource, meter) };
  return {
    path: main.path,
    maxMessage: limits.maxMessage,
    hosts: config.hosts ?? defaultHosts({ resource: resource?.resource, listenHost: main.host }),
    origins: config.origins,
    anonymousRoles: auth.anonymousRoles,
    tls,
    ...(jwt === undefined ? {} : { jwt }),
  };
}
