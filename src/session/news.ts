import type { View } from '../catalogue/view.ts';
import type { Clock } from '../ports/clock.ts';
import type { FrameKind } from '../ports/connection.ts';
import type { ListKind } from '../ports/meter.ts';
import type { Notification } from '../protocol/envelope.ts';
import { ListMemory } from './lists.ts';
import { listChangedFrame, updatedFrame } from './news-frames.ts';
import { Pace } from './pace.ts';
import type { Subscriptions } from './subscriptions.ts';

/** How one era's client is told of a change. */
export interface Voice {
  listChanged(kind: ListKind): void;
  updated(uri: string): void;
  logged(upstream: string, notification: Notification): void;
}

export interface NewsDeps {
  readonly subscriptions: Subscriptions;
  readonly view: () => View;
  readonly send: (frame: string, kind: FrameKind) => void;
  readonly clock: Clock;
  /** `listChangeCoalesce`, milliseconds. */
  readonly coalesceMs: number;
}

const LISTS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/** What one client is told unasked: nothing before its `initialized`, and of lists only what changed in its own view, once. */
export class News {
  private readonly deps: NewsDeps;
  private readonly lists = new ListMemory();
  private readonly pace: Pace;
  private voice: Voice;
  private open = false;

  constructor(deps: NewsDeps) {
    this.deps = deps;
    this.pace = new Pace(deps.coalesceMs, deps.clock, (key) => this.sayUpdated(key));
    this.voice = {
      listChanged: (kind) => deps.send(listChangedFrame(kind), 'list_changed'),
      logged: (_upstream, notification) => {
        if (deps.subscriptions.wantsLog(notification)) deps.send(notification.text, 'log');
      },
      updated: (uri) => deps.send(updatedFrame(uri), 'update'),
    };
  }

  /** From now on it is told in this way. */
  speakThrough(voice: Voice): void {
    this.voice = voice;
  }

  /** The view whose capabilities the client is about to read. */
  announced(view: View): void {
    this.lists.announce(view.capabilities, view);
  }

  /** The client is ready; what changed since it was answered is told now. False if it had said so before. */
  initialized(): boolean {
    if (this.open) return false;
    this.open = true;
    for (const kind of LISTS) this.listMayHaveChanged(kind);
    return true;
  }

  listMayHaveChanged(kind: ListKind): boolean {
    if (!this.open || !this.lists.changed(kind, this.deps.view())) return false;
    this.voice.listChanged(kind);
    return true;
  }

  updated(upstream: string, uri: string): void {
    if (this.deps.subscriptions.has(upstream, uri)) this.pace.heard(uri);
  }

  logged(upstream: string, notification: Notification): void {
    if (this.open) this.voice.logged(upstream, notification);
  }

  close(): void {
    this.pace.close();
  }

  /** It may have been unsubscribed from while this waited. */
  private sayUpdated(uri: string): void {
    if (this.deps.subscriptions.hasAny(uri)) this.voice.updated(uri);
  }
}
