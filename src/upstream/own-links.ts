import type { Link, LinkEvents } from '../ports/link.ts';

interface Opener {
  readonly session: string;
  readonly events: LinkEvents;
}

/** Every live link that belongs to one session, whatever for: what is read from them can be stopped for that session alone. */
export class OwnLinks {
  private readonly links = new Map<string, Set<Link>>();
  private readonly paused = new Set<string>();

  /** Opens one by `open`, to which these events are to be told. Paused from the first moment where its session is. */
  async open({ session, events }: Opener, open: (events: LinkEvents) => Promise<Link>): Promise<Link> {
    let end: () => void = () => {};
    let isOver = false;
    const closed: LinkEvents['closed'] = (cause, again) => {
      isOver = true;
      end();
      events.closed(cause, again);
    };
    const link = await open({ ...events, closed });
    if (isOver) return link;
    end = () => this.remove(session, link);
    this.links.set(session, (this.links.get(session) ?? new Set()).add(link));
    if (this.paused.has(session)) link.pause();
    return link;
  }

  /** Nothing is read from the session's links, those to come included, until `resume`. */
  pause(session: string): void {
    this.paused.add(session);
    for (const link of this.links.get(session) ?? []) link.pause();
  }

  resume(session: string): void {
    this.paused.delete(session);
    // What a link had ready may fill the outbox anew: the rest then stays paused.
    for (const link of this.links.get(session) ?? []) if (!this.paused.has(session)) link.resume();
  }

  /** The session is over, and its links are being closed. */
  release(session: string): void {
    this.paused.delete(session);
  }

  /** Bytes written to the links of each session that their upstreams have not taken. */
  *backlogs(): Iterable<readonly [string, number]> {
    for (const [session, links] of this.links) for (const link of links) yield [session, link.backlog];
  }

  /** One that its peer forgot still has answers under way: nobody else would let it go on. */
  private remove(session: string, link: Link): void {
    const links = this.links.get(session);
    links?.delete(link);
    if (links?.size === 0) this.links.delete(session);
    link.resume();
  }
}
