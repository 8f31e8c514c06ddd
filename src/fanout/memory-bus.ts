import type { Change, ChangeListener, LocalBus, Origin, Reach } from '../ports/bus.ts';
import type { Log } from '../ports/log.ts';

interface Subscription<Listener> {
  readonly listener: Listener;
}

interface Waiting {
  readonly change: Change;
  readonly origin: Origin;
}

/**
 * The bus of a gateway without replicas. Delivers after the publisher's turn of the event loop, in the order of publishing;
 * a change that is waiting already says nothing new and is not kept twice.
 */
export class MemoryBus implements LocalBus {
  readonly isUp = true;
  private readonly log: Log;
  private readonly subscriptions = new Set<Subscription<ChangeListener>>();
  private readonly missedListeners = new Set<Subscription<() => void>>();
  private waiting = new Map<string, Waiting>();
  private scheduled: NodeJS.Immediate | undefined;
  private closed = false;

  constructor(log: Log) {
    this.log = log;
  }

  publish(change: Change, reach: Reach = 'everywhere'): void {
    if (reach !== 'elsewhere') this.enqueue(change, 'here');
  }

  receive(change: Change): void {
    this.enqueue(change, 'elsewhere');
  }

  missed(): void {
    for (const each of [...this.missedListeners]) {
      if (this.missedListeners.has(each)) this.guarded(each.listener, { kind: 'missed' });
    }
  }

  subscribe(listener: ChangeListener): () => void {
    return this.keep(this.subscriptions, listener);
  }

  onMissed(listener: () => void): () => void {
    return this.keep(this.missedListeners, listener);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.subscriptions.clear();
    this.missedListeners.clear();
    this.waiting.clear();
    if (this.scheduled !== undefined) clearImmediate(this.scheduled);
  }

  private keep<Listener>(all: Set<Subscription<Listener>>, listener: Listener): () => void {
    const subscription = { listener };
    if (!this.closed) all.add(subscription);
    return () => all.delete(subscription);
  }

  private enqueue(change: Change, origin: Origin): void {
    if (this.closed) return;
    this.waiting.set(waitingKey(change, origin), { change, origin });
    this.scheduled ??= setImmediate(() => this.deliver());
  }

  /** What listeners publish meanwhile waits for the next turn, so that sockets get theirs in between. */
  private deliver(): void {
    this.scheduled = undefined;
    const all = this.waiting;
    this.waiting = new Map();
    for (const { change, origin } of all.values()) {
      const { kind, upstream } = change;
      for (const each of [...this.subscriptions]) {
        if (this.subscriptions.has(each)) this.guarded(() => each.listener(change, origin), { kind, upstream });
      }
    }
  }

  private guarded(tell: () => void, about: { readonly kind: string; readonly upstream?: string }): void {
    try {
      tell();
    } catch (err) {
      this.log.error('bus_listener_failed', { err, ...about });
    }
  }
}

function waitingKey(change: Change, origin: Origin): string {
  return JSON.stringify([origin, change.kind, change.upstream, change.kind === 'updated' ? change.uri : '']);
}
