import type { Bus, Change } from '../ports/bus.ts';
import type { Log } from '../ports/log.ts';

interface Subscription {
  readonly listener: (change: Change) => void;
}

/**
 * The bus of a gateway without replicas. Delivers after the publisher's turn of the event loop, in the order of publishing;
 * a change that is waiting already says nothing new and is not kept twice.
 */
export class MemoryBus implements Bus {
  private readonly log: Log;
  private readonly subscriptions = new Set<Subscription>();
  private waiting = new Map<string, Change>();
  private scheduled: NodeJS.Immediate | undefined;
  private closed = false;

  constructor(log: Log) {
    this.log = log;
  }

  publish(change: Change): void {
    if (this.closed) return;
    this.waiting.set(changeKey(change), change);
    this.scheduled ??= setImmediate(() => this.deliver());
  }

  subscribe(listener: (change: Change) => void): () => void {
    const subscription = { listener };
    if (!this.closed) this.subscriptions.add(subscription);
    return () => this.subscriptions.delete(subscription);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.subscriptions.clear();
    this.waiting.clear();
    if (this.scheduled !== undefined) clearImmediate(this.scheduled);
  }

  /** What listeners publish meanwhile waits for the next turn, so that sockets get theirs in between. */
  private deliver(): void {
    this.scheduled = undefined;
    const changes = this.waiting;
    this.waiting = new Map();
    for (const change of changes.values()) {
      for (const subscription of [...this.subscriptions]) this.tell(subscription, change);
    }
  }

  private tell(subscription: Subscription, change: Change): void {
    if (!this.subscriptions.has(subscription)) return;
    try {
      subscription.listener(change);
    } catch (err) {
      this.log.error('bus_listener_failed', { err, kind: change.kind, upstream: change.upstream });
    }
  }
}

function changeKey(change: Change): string {
  return JSON.stringify([change.kind, change.upstream, change.kind === 'updated' ? change.uri : '']);
}
