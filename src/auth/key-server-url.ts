import { hasUserinfo, isSafeToFetch, parseUrl } from '../config/schema-loopback.ts';

/**
 * The URL, when keys fetched from it can be trusted: https, or http to this machine. `what` begins the sentence of the
 * Error thrown otherwise; the URL itself is not quoted, it may hold credentials.
 */
export function trustedUrl(text: string, what: string): URL {
  const url = parseUrl(text);
  if (url === undefined) throw new Error(`${what} is not an absolute URL`);
  if (hasUserinfo(url)) throw new Error(`${what} holds credentials`);
  if (!isSafeToFetch(text)) throw new Error(`${what} is neither https nor http to a loopback address`);
  return url;
}
