import { CERTIFICATE_ISSUER } from '../auth/principal.ts';
import type { Problem } from './problem.ts';
import type { Config } from './schema.ts';
import { isLoopback } from './schema-loopback.ts';

/** Rules between `listen.tls`, `listen.tcp` and who callers are. */
export function tlsChecks(config: Config): Problem[] {
  return [...clientAuth(config), ...certificates(config), ...tcpListener(config)];
}

/** Nobody is asked for what nobody could vouch for, and whether it must be shown is said, not guessed. */
function clientAuth({ listen: { tls } }: Config): Problem[] {
  if (tls === null || (tls.clientAuth === undefined) === (tls.clientCaFile === undefined)) return [];
  const text =
    tls.clientCaFile === undefined
      ? 'needs clientCaFile: without it no certificate can be judged'
      : 'is required beside clientCaFile: one of optional, required';
  return [{ path: ['listen', 'tls', 'clientAuth'], text }];
}

function certificates({ auth, listen: { tls } }: Config): Problem[] {
  if (auth.mode === 'anonymous') return [];
  const sans = auth.certificates.map(({ san }) => san);
  const taken = auth.issuers.findIndex(({ issuer }) => issuer === CERTIFICATE_ISSUER);
  return [
    ...(taken < 0
      ? []
      : [
          {
            path: ['auth', 'issuers', taken, 'issuer'],
            text: 'must not be x509, which stands for client certificates',
          },
        ]),
    ...sans.flatMap((san, index) =>
      sans.indexOf(san) < index
        ? [{ path: ['auth', 'certificates', index, 'san'], text: 'is the san of an earlier entry' }]
        : [],
    ),
    ...(sans.length > 0 && tls?.clientCaFile === undefined
      ? [{ path: ['auth', 'certificates'], text: 'needs listen.tls.clientCaFile: nobody is asked for a certificate' }]
      : []),
  ];
}

/** What comes over TCP carries no token: anonymous callers of this machine alone, or callers known by their certificates. */
function tcpListener({ auth, listen: { tcp, tls } }: Config): Problem[] {
  if (tcp === null) return [];
  const problem = (text: string, ...key: string[]) => [{ path: ['listen', 'tcp', ...key], text }];
  if ((tcp.port === undefined) === (tcp.socket === undefined)) return problem('must hold either port or socket');
  if (tcp.socket !== undefined && tcp.host !== undefined) return problem('has no meaning beside socket', 'host');
  if (auth.mode === 'anonymous') {
    if (tcp.host === undefined || isLoopback(tcp.host)) return [];
    return problem('must be a loopback address in anonymous mode', 'host');
  }
  if (tcp.socket !== undefined) return problem('needs auth.mode to be anonymous: callers there show nothing', 'socket');
  if (tls?.clientCaFile !== undefined && auth.certificates.length > 0) return [];
  return problem('needs listen.tls.clientCaFile and auth.certificates in jwt mode: a TCP client carries no token');
}
