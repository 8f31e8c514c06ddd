import type { Cancel } from '../ports/clock.ts';
import type { Client } from './client.ts';
import type { Session } from './session.ts';

/** Every live session of this process. */
export class SessionRegistry implements Iterable<Session> {
  private readonly sessions = new Map<string, Session>();
  private readonly waiters = new Set<() => void>();

  get size(): number {
    return this.sessions.size;
  }

  add(session: Session): void {
    this.sessions.set(session.session, session);
  }

  get(session: string): Session | undefined {
    return this.sessions.get(session);
  }

  remove(session: string): void {
    this.sessions.delete(session);
    if (this.sessions.size > 0) return;
    for (const waiter of [...this.waiters]) waiter();
  }

  [Symbol.iterator](): Iterator<Session> {
    return this.sessions.values();
  }

  *clients(): Iterable<Client> {
    for (const session of this.sessions.values()) yield session.client;
  }

  /** Calls `task` each time the last session has gone. */
  whenEmpty(task: () => void): Cancel {
    this.waiters.add(task);
    return () => this.waiters.delete(task);
  }
}
