import type { Clock } from '../../src/ports/clock.ts';
import { makeAuthority, serverCertificate, tlsFolder } from './certificates.ts';
import { startGateway } from './gateway.ts';
import { connectRaw } from './raw-client.ts';
import { makeIssuer } from './tokens.ts';

export const authority = makeAuthority();
const serving = makeAuthority('Authority of the gateway');
const server = serverCertificate(serving);
const issuer = await makeIssuer();
/** Known by its fingerprint alone. */
export const pinned = authority.issue({ dns: ['pinned.example.com'] });
export const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
export const PONG = { jsonrpc: '2.0', id: 1, result: {} };

const ROBOT = { id: 'robot', roles: ['bot'] };
/** `auth.certificates` of the gateway: one way each to name the robot, and somebody else. */
export const CERTIFICATES = [
  { san: 'robot.example.com', ...ROBOT },
  { san: 'spiffe://example.com/robot', ...ROBOT },
  { san: 'urn:example:robot,1', ...ROBOT },
  { san: 'robot@example.com', ...ROBOT },
  { san: 'CN=robot,OU=R&D \\+ more,O=Acme\\, Inc.\\0ACN=x,C=US', ...ROBOT },
  { san: pinned.sha256.toUpperCase().replaceAll(/..(?=.)/g, '$&:'), ...ROBOT },
  { san: 'late.example.com', id: 'late', roles: [] },
];

interface More {
  readonly tls?: object;
  readonly auth?: object;
  readonly config?: object;
  readonly clock?: Clock;
}

/** A gateway in jwt mode that knows these certificates, on both ways in. */
export async function certifiedGateway({ tls = {}, auth = {}, config = {}, clock }: More = {}) {
  const { put, ...files } = tlsFolder(server, authority.cert);
  const gateway = await startGateway(
    {
      listen: { port: 0, tcp: { port: 0 }, tls: { ...files, clientAuth: 'optional', ...tls } },
      auth: {
        mode: 'jwt',
        resource: issuer.audience,
        requiredScopes: ['mcp:use'],
        issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
        certificates: CERTIFICATES,
        ...auth,
      },
      policy: 'allow-authenticated',
      ...config,
    },
    clock,
  );
  const url = gateway.url.replace('ws:', 'wss:');
  return {
    gateway,
    put,
    url,
    socket: (client?: object, headers = {}) => connectRaw(url, { ...trusting(client), headers }),
  };
}

/** Whom clients believe, and what they show. */
export function trusting(client: object = {}) {
  return { tls: { ca: serving.cert, ...client } };
}

/** The headers that bring a token of alice. */
export const bearer = async (claims: object = {}) => ({
  authorization: `Bearer ${await issuer.sign({ scope: 'mcp:use', ...claims })}`,
});
