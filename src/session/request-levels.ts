import type { Link } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { Notification } from '../protocol/envelope.ts';
import { LOG_LEVELS, type LogLevel, reaches } from '../protocol/log-level.ts';

interface Wanted {
  readonly upstream: string;
  readonly level: LogLevel;
}

/**
 * The log levels that requests under way name: a modern client is sent a log message only while such a request is with
 * the upstream it comes from (MCP 2026-07-28, Logging).
 */
export class RequestLevels {
  private readonly log: Log;
  private readonly session: string;
  private readonly wanted = new Set<Wanted>();
  private readonly told = new WeakMap<Link, LogLevel>();

  constructor(log: Log, session: string) {
    this.log = log;
    this.session = session;
  }

  /** Returns what is to be called when the request has ended. */
  begin(upstream: string, level: LogLevel): () => void {
    const entry = { upstream, level };
    this.wanted.add(entry);
    return () => this.wanted.delete(entry);
  }

  wants(upstream: string, notification: Notification): boolean {
    for (const entry of this.wanted) if (entry.upstream === upstream && reaches(entry.level, notification)) return true;
    return false;
  }

  /** A handshake upstream learns of a level lower than any before on this link, ahead of the call that wants it. */
  tell(link: Link, level: LogLevel): void {
    if (link.peer.era !== 'handshake' || link.isolation === 'shared') return;
    const before = this.told.get(link);
    if (before !== undefined && LOG_LEVELS.indexOf(before) <= LOG_LEVELS.indexOf(level)) return;
    this.told.set(link, level);
    const { session } = this;
    link.setLevel(level).catch((err: unknown) => this.log.warn('set_level_failed', { session, err }));
  }
}
