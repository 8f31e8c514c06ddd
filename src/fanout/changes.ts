import type { Bus } from '../ports/bus.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Counter, ListKind, Meter } from '../ports/meter.ts';
import { Coalesced, type Updated } from './coalesced.ts';

/** Clients of replicas that all lost the same changes do not all look at once: they wait up to so many milliseconds. */
const MISSED_JITTER_MS = 2_000;

/** Who may have to hear of a change: a session. */
export interface Audience {
  /** A list of this upstream changed. Tells the client only if its own view of that kind did, and returns whether. */
  listMayHaveChanged(kind: ListKind, upstream: string): boolean;
  /** Tells the client if it subscribed to this URI. */
  updated(upstream: string, uri: string): void;
  /** What it subscribed to, with the owners. */
  subscribed(): Iterable<Updated>;
}

export interface FanOutDeps {
  /** Asked anew for each change. One of them that throws harms no other. */
  readonly audience: () => Iterable<Audience>;
  /** `listChangeCoalesce`, milliseconds. */
  readonly coalesceMs: number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
}

/**
 * Brings every change on the bus to everyone in `audience`. A list that changed elsewhere is none yet: what this replica
 * lists decides. Nothing is told after the returned function was called.
 */
export function fanOut(bus: Bus, { audience, coalesceMs, clock, random, meter, log }: FanOutDeps): () => void {
  const told: Readonly<Record<ListKind, Counter>> = {
    tools: meter.counter('list_changes_total', { kind: 'tools', stage: 'told' }),
    resources: meter.counter('list_changes_total', { kind: 'resources', stage: 'told' }),
    prompts: meter.counter('list_changes_total', { kind: 'prompts', stage: 'told' }),
  };
  let open = true;
  const each = (about: { readonly kind: string; readonly upstream?: string }, task: (one: Audience) => void) => {
    for (const one of audience()) {
      if (!open) return;
      try {
        task(one);
      } catch (err) {
        log.error('audience_failed', { err, ...about });
      }
    }
  };
  const updates = new Coalesced(coalesceMs, clock, ({ upstream, uri }) =>
    each({ kind: 'updated', upstream }, (one) => one.updated(upstream, uri)),
  );
  const unsubscribe = bus.subscribe((change, origin) => {
    if (change.kind === 'updated') return updates.add(change);
    if (origin === 'elsewhere') return;
    const { kind, upstream } = change;
    each({ kind, upstream }, (one) => {
      if (one.listMayHaveChanged(kind, upstream)) told[kind].add();
    });
  });
  // Which updates were lost nobody knows: whoever waits for one is told to look.
  const look = () => {
    cancelLook = undefined;
    each({ kind: 'missed' }, (one) => {
      for (const { upstream, uri } of one.subscribed()) one.updated(upstream, uri);
    });
  };
  let cancelLook: Cancel | undefined;
  const unwatch = bus.onMissed(() => {
    cancelLook ??= clock.after(random() * MISSED_JITTER_MS, look);
  });
  return () => {
    open = false;
    unsubscribe();
    unwatch();
    cancelLook?.();
    updates.close();
  };
}
