import type { Clock } from '../ports/clock.ts';
import type { Client } from './client.ts';
import type { Session } from './session.ts';

/** Every live session of this process. */
export class SessionRegistry implements Iterable<Session> {
  private readonly sessions = new Map<string, Session>();
  private waiters: (() => void)[] = [];

  get size(): number {
    return this.sessions.size;
  }

  add(session: Session): void {
    this.sessions.set(session.session, session);
  }

  remove(session: string): void {
    this.sessions.delete(session);
    if (this.sessions.size > 0) return;
    const waiters = this.waiters;
    this.waiters = [];
    for (const waiter of waiters) waiter();
  }

  [Symbol.iterator](): Iterator<Session> {
    return this.sessions.values();
  }

  *clients(): Iterable<Client> {
    for (const session of this.sessions.values()) yield session.client;
  }

  /** Resolves when no session is left, or after `ms`. */
  empty(clock: Clock, ms: number): Promise<void> {
    if (this.sessions.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = clock.after(ms, resolve);
      this.waiters.push(() => {
        stop();
        resolve();
      });
    });
  }
}
