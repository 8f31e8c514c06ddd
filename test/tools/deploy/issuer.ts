import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

const ISSUER = 'https://issuer.deploy.example/';
export const RESOURCE = 'http://127.0.0.1:8080/mcp';

export interface Issuer {
  /** What the gateway is given as `jwksFile`. */
  readonly keys: { readonly keys: readonly JWK[] };
  /** The `auth` part of a configuration that takes its tokens. */
  auth(jwksFile: string): object;
  /** A token of a caller, good for an hour. */
  token(subject?: string): Promise<string>;
}

/** Signs with a key of its own: a secret is accepted on loopback listeners only, and a container has another one. */
export async function makeIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const key = { ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'deploy' };
  return {
    keys: { keys: [key] },
    auth: (jwksFile) => ({ mode: 'jwt', resource: RESOURCE, issuers: [{ issuer: ISSUER, keys: { jwksFile } }] }),
    token: (subject = 'deploy') =>
      new SignJWT({ roles: ['user'] })
        .setProtectedHeader({ alg: 'ES256', kid: 'deploy' })
        .setIssuer(ISSUER)
        .setAudience(RESOURCE)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
  };
}
