/** The address clients connect to; an IPv6 host goes in brackets (RFC 3986 section 3.2.2). */
export function socketUrl(
  { host, port }: { readonly host: string; readonly port: number },
  { path, tls }: { readonly path: string; readonly tls: object | null },
): string {
  return `${tls === null ? 'ws' : 'wss'}://${bracketed(host)}:${port}${path}`;
}

export function httpUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${bracketed(host)}:${port}`;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
