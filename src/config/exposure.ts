import type { Config } from './schema.ts';
import { isLoopback } from './schema-loopback.ts';

/** What is right and leaves a listener open to a flood, or counts its callers together: worth a word, not a refusal. */
export function exposure({ listen, limits }: Config): string[] {
  const { perAddress } = limits.handshakes;
  const isOpen = !isLoopback(listen.host) || (listen.tcp?.host !== undefined && !isLoopback(listen.tcp.host));
  if (isOpen && perAddress === null) {
    return ['limits.handshakes.perAddress is null: one address can use up what limits.handshakes.perSecond lets in'];
  }
  const counted = [
    ...(perAddress === null ? [] : ['limits.handshakes.perAddress']),
    ...(limits.connectionsPerAddress === null ? [] : ['limits.connectionsPerAddress']),
  ];
  if (isOpen || listen.trustedProxies.length > 0) return [];
  return counted.map((key) => `${key} takes all callers for one while listen.trustedProxies does not name the proxy`);
}
