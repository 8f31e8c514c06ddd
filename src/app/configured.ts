import type { Config } from '../config/schema.ts';
import type { Meter } from '../ports/meter.ts';
import { bufferedBytes } from './buffers.ts';

/** Shows what the configuration allows beside what there is, so that an alert compares the two and holds no number of its own. */
export function measureConfigured({ limits, mcpServers }: Config, meter: Meter): void {
  for (const [name, limit] of Object.entries(limitsShown(limits))) {
    if (limit !== null) meter.gauge('limit', { limit_name: name }).set(limit);
  }
  for (const { key, timeout } of mcpServers) {
    meter.gauge('upstream_timeout_seconds', { upstream: key }).set(timeout / 1000);
  }
}

/** Those that bound a number or bytes, by their keys; null where the configuration has no such limit. */
function limitsShown(limits: Config['limits']): Readonly<Record<string, number | null>> {
  return {
    connections: limits.connections,
    connectionsPerPrincipal: limits.connectionsPerPrincipal,
    connectionsPerAddress: limits.connectionsPerAddress,
    'handshakes.pending': limits.handshakes.pending,
    'handshakes.perSecond': limits.handshakes.perSecond,
    inFlight: limits.inFlight,
    subscriptions: limits.subscriptions,
    outbox: limits.outbox,
    bufferedTotal: bufferedBytes(limits),
    children: limits.children,
    childrenPerPrincipal: limits.childrenPerPrincipal,
    childStartsPerSecond: limits.childStartsPerSecond,
  };
}
