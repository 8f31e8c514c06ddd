import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose';

export type SigningAlgorithm = 'HS256' | 'ES256' | 'RS256' | 'EdDSA';

export interface TestKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  /** What signs: the private key, or the secret's bytes. */
  readonly signer: CryptoKey | Uint8Array;
  /** The public half; absent for a secret. */
  readonly jwk: JWK | undefined;
  readonly pem: string | undefined;
}

export interface TestIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** Fit for `keys: { secret }`; only of an HS256 issuer. */
  readonly secret: string;
  readonly key: TestKey;
  readonly jwks: { readonly keys: readonly JWK[] };
  /** A token good for five minutes, of `alice`; a claim set to undefined is left out. */
  sign(claims?: TestClaims, options?: SignOptions): Promise<string>;
}

/** Claims of any name and kind, also of a kind no issuer would write. */
export type TestClaims = Readonly<Record<string, unknown>>;

export interface SignOptions {
  /** Epoch milliseconds the token is issued at; default the system's clock. */
  readonly now?: number;
  readonly key?: TestKey;
  readonly header?: Readonly<Record<string, unknown>>;
}

const SECRET = 'test-secret-of-at-least-32-bytes!';

export async function makeIssuer(
  options: { alg?: SigningAlgorithm; issuer?: string; audience?: string; key?: TestKey } = {},
): Promise<TestIssuer> {
  const { issuer = 'https://idp.example.com/', audience = 'https://mcp.example.com/mcp' } = options;
  const key = options.key ?? (await makeKey(options.alg ?? 'HS256'));
  return {
    issuer,
    audience,
    secret: SECRET,
    key,
    jwks: { keys: key.jwk === undefined ? [] : [key.jwk] },
    sign: (claims = {}, sign = {}) => {
      const iat = Math.floor((sign.now ?? Date.now()) / 1000);
      const all = { iss: issuer, aud: audience, sub: 'alice', iat, exp: iat + 300, ...claims };
      return signClaims(all, sign.key ?? key, sign.header);
    },
  };
}

/** Signs exactly these claims. */
export function signClaims(
  claims: TestClaims,
  key: TestKey,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.signer);
}

export async function makeKey(alg: SigningAlgorithm, kid = 'key-1'): Promise<TestKey> {
  if (alg === 'HS256') return secretKey(SECRET, kid);
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  return { kid, alg, signer: privateKey, jwk, pem: await exportSPKI(publicKey) };
}

/** Signs HS256 under any text, also one that is no secret. */
export function secretKey(secret: string, kid = 'key-1'): TestKey {
  return { kid, alg: 'HS256', signer: new TextEncoder().encode(secret), jwk: undefined, pem: undefined };
}

/** `alg: none` as RFC 7519 section 6 writes it: two parts and an empty signature. */
export function unsignedToken(claims: TestClaims): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.`;
}
