import { SignJWT } from 'jose';
import {
  type Audience,
  acceptedValues,
  type ClaimPath,
  type ClaimPaths,
  type IssuerOptions,
  isRecord,
} from './jwt-options.ts';

export interface DevelopmentToken {
  readonly issuer: string;
  readonly audience: Audience;
  readonly secret: string;
  readonly id: string;
  /** As the issuer would name them: before `roles.map`. */
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly lifeSeconds: number;
  readonly claims: ClaimPaths;
  /** The issuer's required claims, so that the token is accepted; of a list the first value. */
  readonly require?: IssuerOptions['require'] | undefined;
  /** Epoch milliseconds; default the system's clock. */
  readonly now?: number | undefined;
}

/** Signs a token for an issuer with a secret (HS256), shaped as its configuration reads tokens. For development only. */
export async function signDevelopmentToken(token: DevelopmentToken): Promise<string> {
  const issuedAt = Math.floor((token.now ?? Date.now()) / 1000);
  return new SignJWT({ ...claimsOf(token), iss: token.issuer, iat: issuedAt, exp: issuedAt + token.lifeSeconds })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(token.secret));
}

function claimsOf(token: DevelopmentToken): Record<string, unknown> {
  const claims: Record<string, unknown> = {};
  for (const [name, wanted] of Object.entries(token.require ?? {})) put(claims, name, acceptedValues(wanted)[0]);
  if ('claim' in token.audience) put(claims, token.audience.claim, token.audience.values[0]);
  else put(claims, 'aud', [...token.audience]);
  put(claims, token.claims.roles, [...token.roles]);
  put(claims, token.claims.scopes, token.scopes.join(' '));
  put(claims, token.claims.id, token.id);
  return claims;
}

/** Writes a claim where the same path reads it. */
function put(claims: Record<string, unknown>, path: ClaimPath, value: unknown): void {
  const [first = '', ...rest] = typeof path === 'string' ? [path] : path;
  if (rest.length === 0) {
    claims[first] = value;
    return;
  }
  const held = claims[first];
  const inner: Record<string, unknown> = isRecord(held) ? { ...held } : {};
  put(inner, rest, value);
  claims[first] = inner;
}
