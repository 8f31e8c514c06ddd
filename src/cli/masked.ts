import { readRedisAddress } from '../config/redis-address.ts';
import type { Config } from '../config/schema.ts';
import { masking } from '../upstream/masking.ts';

const MAX_LINE = 400;

/** Makes text of upstreams fit for one line of output: no control characters, bounded, and no secret of the configuration in it. */
export type Mask = (text: string) => string;

/** Masks what the configuration holds in headers, environments, queries of URLs, issuers' secrets, keys of the seal and the password of `bus`. */
export function maskFor(config: Config): Mask {
  const masked = masking(secretsOf(config));
  return (text) => {
    const line = masked(text)
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim();
    return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
  };
}

function secretsOf({ auth, bus, seal, mcpServers }: Config): string[] {
  const issuers = auth.mode === 'jwt' ? auth.issuers : [];
  return [
    ...seal.keys,
    ...[bus === null ? [] : (readRedisAddress(bus.redis)?.password ?? [])].flat(),
    ...issuers.flatMap(({ keys }) => (keys.source === 'secret' ? [keys.secret] : [])),
    ...mcpServers.flatMap((server) => {
      if (server.type === 'stdio') return Object.values(server.env);
      if (!('headers' in server)) return [];
      // A scheme such as `Bearer` stands in front of what is secret.
      const values = Object.values(server.headers).flatMap((value) => [value, ...value.split(/\s+/)]);
      return [...values, ...new URL(server.url).searchParams.values()];
    }),
  ];
}
