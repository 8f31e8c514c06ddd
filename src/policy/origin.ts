/**
 * Whether an upgrade with this `Origin` header may go on. A client that is no browser sends none and passes; `null`
 * (sandboxed frames, files) never does; everything else only when listed, compared exactly (RFC 6454 section 6.2).
 */
export function originAllowed(origin: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined) return true;
  return origin !== 'null' && allowed.includes(origin);
}

/**
 * Whether an upgrade with this `Host` header may go on. Entries are a name (any port), `name:port`, or `*`, which opens;
 * IPv6 addresses stand in brackets. Case does not matter. A malformed Host never passes, a missing one only with `*`.
 */
export function hostAllowed(host: string | undefined, allowed: readonly string[]): boolean {
  if (host === undefined) return allowed.includes('*');
  const asked = splitHost(host);
  if (asked === undefined) return false;
  return allowed.some((entry) => entry === '*' || covers(splitHost(entry), asked));
}

/** The Host allow-list where the configuration has none: the host of `auth.resource` and, on a loopback listener, the loopback names; any port. */
export function defaultHosts(facts: { resource: string | null | undefined; listenHost: string }): string[] {
  const named = facts.resource && URL.canParse(facts.resource) ? [new URL(facts.resource).hostname] : [];
  const local = isLoopbackHost(facts.listenHost) ? ['localhost', '127.0.0.1', '[::1]'] : [];
  return [...new Set([...named, ...local])];
}

/** Whether a host to listen on, or of a Host header without its port, means this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
}

interface HostParts {
  readonly name: string;
  readonly port: string | undefined;
}

/** RFC 3986 section 3.2.2 without userinfo and percent-encoding; undefined where the text is no host. */
function splitHost(text: string): HostParts | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(text);
  const name = match?.[1];
  if (name === undefined) return undefined;
  const port = match?.[2];
  if (port !== undefined && Number(port) > 65_535) return undefined;
  return { name: name.toLowerCase(), port };
}

function covers(entry: HostParts | undefined, asked: HostParts): boolean {
  if (entry === undefined || entry.name !== asked.name) return false;
  return entry.port === undefined || entry.port === asked.port;
}
