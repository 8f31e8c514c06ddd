/** Whether a host, as written in a listener or as `URL.hostname` gives it, names this machine and nothing else (RFC 6890; `localhost`, RFC 6761). */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || name === '[::1]' || isLoopback4(name);
}

function isLoopback4(name: string): boolean {
  const match = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(name);
  return match?.slice(1).every((octet) => Number(octet) <= 255) ?? false;
}

/** Whether nothing that is fetched from this URL crosses a network in the clear: https, or http to loopback. */
export function isSafeToFetch(text: string): boolean {
  const url = parseUrl(text);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}

export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Credentials in a URL end up in logs and errors of whoever handles it; headers do not. */
export function hasUserinfo(url: URL): boolean {
  return url.username !== '' || url.password !== '';
}
