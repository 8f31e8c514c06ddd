import { SignJWT } from 'jose';

const SECRET = 'a secret of the trials, 32 bytes at least';
const ISSUER = 'trial';
export const RESOURCE = 'https://trial.example/mcp';

export interface TokenParts {
  readonly sub: string;
  /** Seconds from now. */
  readonly life?: number;
  readonly secret?: string;
  readonly audience?: string;
}

export function signToken({ sub, life = 3600, secret = SECRET, audience = RESOURCE }: TokenParts) {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ roles: ['user'] })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setSubject(sub)
    .setIssuedAt(Math.min(now, now + life - 1))
    .setExpirationTime(now + life)
    .sign(new TextEncoder().encode(secret));
}

/** The `auth` part of a configuration that takes these tokens. */
export const AUTH = {
  mode: 'jwt',
  resource: RESOURCE,
  clockTolerance: '1s',
  issuers: [{ issuer: ISSUER, keys: { secret: SECRET } }],
};
