import type { Connection } from '../ports/connection.ts';
import type { ArrayFrame } from '../protocol/batch.ts';
import type { Id, Message, Unreadable } from '../protocol/envelope.ts';
import type { Phase } from './admit.ts';
import type { Gateway } from './context.ts';
import type { InFlight } from './in-flight.ts';

export interface Read {
  readonly message: Message | Unreadable | ArrayFrame;
  /** Monotonic milliseconds. */
  readonly readAt: number;
}

export interface OpeningDeps {
  readonly session: string;
  readonly connection: Connection;
  readonly gateway: Gateway;
  readonly inFlight: InFlight;
  readonly take: (read: Read) => void;
}

/** Where a session stands in its opening. While it opens nothing more is read, and what was read already waits in order. */
export class Opening {
  private readonly deps: OpeningDeps;
  private current: Phase = 'new';
  private backlog: Read[] = [];
  private closed = false;

  constructor(deps: OpeningDeps) {
    this.deps = deps;
  }

  get phase(): Phase {
    return this.current;
  }

  /** Runs `open` after first answers. From now on the request that opens the session is in flight. */
  begin(id: Id, open: () => Promise<void> | void): void {
    const { session, connection, gateway, inFlight } = this.deps;
    this.current = 'initializing';
    this.backlog = [];
    connection.pause('opening');
    inFlight.add(id, { cancel: null });
    const opening = gateway.firstAnswers().then(async () => {
      if (!this.closed) await open();
    });
    opening.catch((err: unknown) => {
      gateway.log.error('session_open_failed', { session, err });
      connection.close('internal');
    });
  }

  /** True if it has to wait. */
  holds(read: Read): boolean {
    if (this.current === 'initializing') this.backlog.push(read);
    return this.current === 'initializing';
  }

  /** Not accepted, it may be tried again. */
  end(accepted: boolean): void {
    this.current = accepted ? 'ready' : 'new';
    this.deps.connection.resume('opening');
    const waiting = this.backlog;
    this.backlog = [];
    for (const read of waiting) this.deps.take(read);
  }

  close(): void {
    this.closed = true;
    this.backlog = [];
  }
}
