import type { ListKind } from './meter.ts';

/** A hint that something changed, never its content. */
export type Change =
  | { readonly kind: ListKind; readonly upstream: string }
  | { readonly kind: 'updated'; readonly upstream: string; readonly uri: string };

/** Carries changes to every replica, this one included, each listener once, in the order of publishing. */
export interface Bus {
  publish(change: Change): void;
  /** A listener that throws harms no other. Nothing is delivered after the returned function was called, also not what was under way. */
  subscribe(listener: (change: Change) => void): () => void;
  /** Idempotent; nothing is delivered afterwards, later publishes are dropped. */
  close(): Promise<void>;
}
