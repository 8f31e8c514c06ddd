import type { Link } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';

/** Who is subscribed to what on a shared link: the upstream sees each URI once, from its first subscriber to its last. */
export class SharedSubscriptions {
  private readonly log: Log;
  private readonly sessions = new Map<string, Set<string>>();

  constructor(log: Log) {
    this.log = log;
  }

  /** Asks the upstream for the first subscriber only; on failure nothing is remembered. */
  async subscribe(link: Link, uri: string, session: string): Promise<void> {
    const known = this.sessions.get(uri);
    if (known !== undefined) {
      known.add(session);
      return;
    }
    this.sessions.set(uri, new Set([session]));
    try {
      await link.ask('resources/subscribe', JSON.stringify({ uri }));
    } catch (cause) {
      this.sessions.delete(uri);
      throw cause;
    }
  }

  async unsubscribe(link: Link | undefined, uri: string, session: string): Promise<void> {
    const known = this.sessions.get(uri);
    if (known?.delete(session) !== true || known.size > 0) return;
    this.sessions.delete(uri);
    await link?.ask('resources/unsubscribe', JSON.stringify({ uri }));
  }

  /** Ends all of one session's; nobody waits for the upstream. */
  release(link: Link | undefined, session: string): void {
    for (const [uri, known] of this.sessions) {
      if (!known.has(session)) continue;
      this.unsubscribe(link, uri, session).catch((err: unknown) => this.log.debug('unsubscribe_failed', { err }));
    }
  }

  /** Subscribes a fresh link to everything anew; calls `restored` for each URI, after which its subscribers must hear one update. */
  async restore(link: Link, restored: (uri: string) => void): Promise<void> {
    for (const uri of [...this.sessions.keys()]) {
      try {
        await link.ask('resources/subscribe', JSON.stringify({ uri }));
      } catch (err) {
        this.log.warn('resubscribe_failed', { err });
      }
      restored(uri);
    }
  }
}
