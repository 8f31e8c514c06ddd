import type { Bus, Change } from '../ports/bus.ts';
import type { Log } from '../ports/log.ts';
import type { Counter, ListKind, Meter } from '../ports/meter.ts';

/** Who may have to hear of a change: a session. Both return whether its client was told. */
export interface Audience {
  /** A list of this upstream changed. Tells the client only if its own view of that kind did. */
  listMayHaveChanged(kind: ListKind, upstream: string): boolean;
  /** Tells the client if it subscribed to this URI. */
  updated(upstream: string, uri: string): boolean;
}

/**
 * Brings every change on the bus to everyone in `audience`, asked anew for each change. One that throws harms no other.
 * Nothing is told after the returned function was called.
 */
export function fanOut(bus: Bus, audience: () => Iterable<Audience>, meter: Meter, log: Log): () => void {
  const told: Readonly<Record<ListKind, Counter>> = {
    tools: meter.counter('list_changes_total', { kind: 'tools', stage: 'told' }),
    resources: meter.counter('list_changes_total', { kind: 'resources', stage: 'told' }),
    prompts: meter.counter('list_changes_total', { kind: 'prompts', stage: 'told' }),
  };
  let open = true;
  const unsubscribe = bus.subscribe((change) => {
    for (const each of audience()) {
      if (!open) return;
      try {
        if (tell(each, change) && change.kind !== 'updated') told[change.kind].add();
      } catch (err) {
        log.error('audience_failed', { err, kind: change.kind, upstream: change.upstream });
      }
    }
  });
  return () => {
    open = false;
    unsubscribe();
  };
}

function tell(each: Audience, change: Change): boolean {
  return change.kind === 'updated'
    ? each.updated(change.upstream, change.uri)
    : each.listMayHaveChanged(change.kind, change.upstream);
}
