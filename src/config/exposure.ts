import { coversAll } from '../policy/address.ts';
import type { Config } from './schema.ts';
import { isLoopback } from './schema-loopback.ts';

/** What is right and leaves a listener open to a flood or to being listened in on, or mistakes its callers: worth a word, not a refusal. */
export function exposure(config: Config): string[] {
  return [...countedCallers(config), ...believedCallers(config), ...plainListeners(config)];
}

function countedCallers({ listen, limits }: Config): string[] {
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

function believedCallers({ listen }: Config): string[] {
  const all = listen.trustedProxies.filter(coversAll);
  return all.map((block) => `listen.trustedProxies holds ${block}: any caller can choose its own address`);
}

/** Who names a proxy has something in front that can speak TLS; what follows the proxy is the operator's network. */
function plainListeners({ listen, ops, admin }: Config): string[] {
  const isPlain = !isLoopback(listen.host) && listen.tls === null && listen.trustedProxies.length === 0;
  return [
    ...(isPlain
      ? ['listen.tls is null: tokens travel unencrypted to listen.host unless a proxy in front of it speaks TLS']
      : []),
    ...(isLoopback(ops.host)
      ? []
      : ['ops.host is beyond loopback: whoever reaches it reads health and metrics, without authentication']),
    ...(admin === null || isLoopback(admin.host)
      ? []
      : ['admin.host is beyond loopback: its token travels unencrypted, and whoever reaches it may try others']),
  ];
}
