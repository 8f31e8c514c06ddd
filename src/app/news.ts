import { fanOut } from '../fanout/changes.ts';
import type { Bus } from '../ports/bus.ts';
import type { SessionRegistry } from '../session/registry.ts';
import type { Shared } from './shared.ts';

/** Brings what changes to the sessions it concerns, until the returned function is called. */
export function startNews({ config, clock, meter, log }: Shared, bus: Bus, registry: SessionRegistry): () => void {
  return fanOut(bus, {
    audience: () => registry.clients(),
    coalesceMs: config.timing.listChangeCoalesce,
    random: Math.random,
    clock,
    meter,
    log,
  });
}
