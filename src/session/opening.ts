import type { Connection } from '../ports/connection.ts';
import type { ArrayFrame } from '../protocol/batch.ts';
import type { Message, Unreadable } from '../protocol/envelope.ts';
import type { Phase } from './admit.ts';

export interface Read {
  readonly message: Message | Unreadable | ArrayFrame;
  /** Monotonic milliseconds. */
  readonly readAt: number;
}

/** Where a session stands in its opening. While it opens nothing more is read, and what was read already waits in order. */
export class Opening {
  private readonly connection: Connection;
  private readonly take: (read: Read) => void;
  private current: Phase = 'new';
  private backlog: Read[] = [];

  constructor(connection: Connection, take: (read: Read) => void) {
    this.connection = connection;
    this.take = take;
  }

  get phase(): Phase {
    return this.current;
  }

  /** `first` is taken anew at the end, before all that came after it. */
  begin(first?: Read): void {
    this.current = 'initializing';
    this.connection.pause();
    this.backlog = first === undefined ? [] : [first];
  }

  /** True if it has to wait. */
  holds(read: Read): boolean {
    if (this.current === 'initializing') this.backlog.push(read);
    return this.current === 'initializing';
  }

  /** Not accepted, it may be tried again. */
  end(accepted: boolean): void {
    this.current = accepted ? 'ready' : 'new';
    this.connection.resume();
    const waiting = this.backlog;
    this.backlog = [];
    for (const read of waiting) this.take(read);
  }

  close(): void {
    this.backlog = [];
  }
}
