import type { ListKind } from './meter.ts';

/** A hint that something changed, never its content. */
export type Change =
  | { readonly kind: ListKind; readonly upstream: string }
  | { readonly kind: 'updated'; readonly upstream: string; readonly uri: string };

/** Who is to hear of a change: every replica, this one alone, or all but this one. */
export type Reach = 'everywhere' | 'here' | 'elsewhere';

/** Where a change was published: by this replica or by another one. */
export type Origin = 'here' | 'elsewhere';

export type ChangeListener = (change: Change, origin: Origin) => void;

/** Carries changes to the listeners of replicas, each once, those of one publisher in the order of publishing; but on the way to others lists may overtake updates. */
export interface Bus {
  /** Whether the other replicas can be reached now; always true where there are none. */
  readonly isUp: boolean;
  /** Never waits and never throws: what cannot be carried to others now is kept for them, within a bound. */
  publish(change: Change, reach?: Reach): void;
  /** A listener that throws harms no other. Nothing is delivered after the returned function was called, also not what was under way. */
  subscribe(listener: ChangeListener): () => void;
  /** Calls when changes of others were lost, so that anything may have changed. Nothing is told after the returned function was called. */
  onMissed(listener: () => void): () => void;
  /** Idempotent; nothing is delivered afterwards, later publishes are dropped. */
  close(): Promise<void>;
}

/** The listeners of one replica, which its bus brings what comes from others. */
export interface LocalBus extends Bus {
  /** Another replica published it. Delivered in one order with what is published here. */
  receive(change: Change): void;
  /** Changes of others were lost. */
  missed(): void;
}
