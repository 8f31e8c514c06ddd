import type { Link } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import { restoreEach } from './restoring.ts';

interface Subscribed {
  readonly sessions: Set<string>;
  /** The upstream's answer to the first subscriber, which is everybody's. */
  readonly answered: Promise<void>;
}

/** Who is subscribed to what on a shared link: the upstream sees each URI once, from its first subscriber to its last. */
export class SharedSubscriptions {
  private readonly log: Log;
  private readonly uris = new Map<string, Subscribed>();
  /** What the upstream was asked last about a URI: the next is asked only then, for HTTP keeps no order of its own. */
  private readonly last = new Map<string, Promise<void>>();

  constructor(log: Log) {
    this.log = log;
  }

  /** Asks the upstream for the first subscriber only; on failure, which all who wait for it share, nothing is remembered. */
  subscribe(link: Link, uri: string, session: string): Promise<void> {
    const known = this.uris.get(uri);
    if (known !== undefined) {
      known.sessions.add(session);
      return known.answered;
    }
    const answered = this.turn(uri, () => link.subscribe(uri)).catch((cause: unknown) => {
      if (this.uris.get(uri) === subscribed) this.uris.delete(uri);
      throw cause;
    });
    const subscribed = { sessions: new Set([session]), answered };
    this.uris.set(uri, subscribed);
    return answered;
  }

  async unsubscribe(link: Link | undefined, uri: string, session: string): Promise<void> {
    const sessions = this.uris.get(uri)?.sessions;
    if (sessions?.delete(session) !== true || sessions.size > 0) return;
    this.uris.delete(uri);
    if (link !== undefined) await this.turn(uri, () => link.unsubscribe(uri));
  }

  /** Ends all of one session's; nobody waits for the upstream. */
  release(link: Link | undefined, session: string): void {
    for (const [uri, { sessions }] of this.uris) {
      if (!sessions.has(session)) continue;
      this.unsubscribe(link, uri, session).catch((err: unknown) => this.log.debug('unsubscribe_failed', { err }));
    }
  }

  /** Subscribes a fresh link to everything anew; calls `restored` for each URI, after which its subscribers must hear one update. */
  async restore(link: Link, restored: (uri: string) => void): Promise<void> {
    await restoreEach(link, [...this.uris.keys()], async (uri) => {
      if (!this.uris.has(uri)) return;
      await this.turn(uri, () => link.subscribe(uri)).catch((err: unknown) => {
        this.log.warn('resubscribe_failed', { err });
      });
      restored(uri);
    });
  }

  private turn(uri: string, send: () => Promise<void>): Promise<void> {
    const before = this.last.get(uri);
    const asked = before === undefined ? send() : before.then(send, send);
    this.last.set(uri, asked);
    const over = () => {
      if (this.last.get(uri) === asked) this.last.delete(uri);
    };
    asked.then(over, over);
    return asked;
  }
}
