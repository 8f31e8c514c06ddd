import { type Fetch, fetchJson, StatusError } from './fetch-json.ts';
import { isRecord } from './jwt-options.ts';
import { trustedUrl } from './key-server-url.ts';
import { type KeySet, keySetOf } from './key-set.ts';

/**
 * Loads an issuer's key set by way of its metadata document. The document is read each time, so that a moved key set
 * is found; that costs one more request an attempt.
 */
export function discoveredKeySet(url: URL, issuer: string, fetch: Fetch): (signal: AbortSignal) => Promise<KeySet> {
  return async (signal) => {
    const metadata = await readMetadata(metadataUrls(url), { fetch, signal });
    if (!isRecord(metadata) || metadata.issuer !== issuer)
      throw new Error('The discovered metadata names another issuer');
    if (typeof metadata.jwks_uri !== 'string') throw new Error('The discovered metadata has no jwks_uri');
    return keySetOf(await fetchJson(trustedUrl(metadata.jwks_uri, 'The discovered jwks_uri'), { fetch, signal }));
  };
}

/** OpenID Connect Discovery 1.0 section 4 (appended to the issuer), then RFC 8414 section 3.1 (between host and path). */
export function metadataUrls(issuer: URL): readonly [URL, URL] {
  const path = issuer.pathname.replace(/\/$/, '');
  return [
    new URL(`${path}/.well-known/openid-configuration`, issuer.origin),
    new URL(`/.well-known/oauth-authorization-server${path}`, issuer.origin),
  ];
}

/** A server without the first document answers it with a status; an unreachable one is not asked twice. */
async function readMetadata(
  [first, second]: readonly [URL, URL],
  options: { fetch: Fetch; signal: AbortSignal },
): Promise<unknown> {
  try {
    return await fetchJson(first, options);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return fetchJson(second, options);
  }
}
