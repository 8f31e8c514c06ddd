import type { Config } from '../config/schema.ts';

/** Shorter ones would mask ordinary words, and are no secrets. */
const MIN_SECRET = 8;
const MAX_LINE = 400;

/** Makes text of upstreams fit for one line of output: no control characters, bounded, and no secret of the configuration in it. */
export type Mask = (text: string) => string;

/** Masks what the configuration holds in headers, environments, queries of URLs and issuers' secrets. */
export function maskFor(config: Config): Mask {
  const secrets = [...new Set(secretsOf(config))].filter((secret) => secret.length >= MIN_SECRET);
  secrets.sort((a, b) => b.length - a.length);
  return (text) => {
    let masked = text;
    for (const secret of secrets) masked = masked.replaceAll(secret, '[redacted]');
    const line = masked.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
    return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
  };
}

function secretsOf({ auth, mcpServers }: Config): string[] {
  const issuers = auth.mode === 'jwt' ? auth.issuers : [];
  return [
    ...issuers.flatMap(({ keys }) => (keys.source === 'secret' ? [keys.secret] : [])),
    ...mcpServers.flatMap((server) => {
      if (server.type === 'stdio') return Object.values(server.env);
      if (server.type !== 'http') return [];
      // A scheme such as `Bearer` stands in front of what is secret.
      const values = Object.values(server.headers).flatMap((value) => [value, ...value.split(/\s+/)]);
      return [...values, ...new URL(server.url).searchParams.values()];
    }),
  ];
}
