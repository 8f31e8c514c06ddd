import { decodeJwt, decodeProtectedHeader } from 'jose';

/** What an unverified token says of itself: enough to choose whose keys decide about it. */
export interface UnverifiedToken {
  readonly algorithm: string;
  readonly header: { readonly alg: string; readonly kid?: string };
  /** Trusted only once the signature over the same text is verified. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Bytes of a token beyond which it is not looked at; signed tokens of real issuers stay under 8 KiB. */
export const MAX_TOKEN_LENGTH = 16 * 1024;

/** Three base64url parts (RFC 7515 section 7.1); the last may be empty, so that `alg: none` is refused for what it is. */
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/;

/** Reads a compact JWS whose payload is a claims set; undefined for anything else. */
export function readToken(token: string): UnverifiedToken | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !COMPACT.test(token)) return undefined;
  try {
    const { alg, kid, b64 } = decodeProtectedHeader(token);
    // An unencoded payload (RFC 7797) would make the text read here another than the one signed.
    if (typeof alg !== 'string' || (b64 !== undefined && b64 !== true)) return undefined;
    if (kid !== undefined && typeof kid !== 'string') return undefined;
    const header = kid === undefined ? { alg } : { alg, kid };
    return { algorithm: alg, header, claims: decodeJwt(token) };
  } catch {
    // The parser's error quotes what it read, and nobody is told more than "malformed".
    return undefined;
  }
}
