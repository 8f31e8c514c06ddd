import type { CloseName } from '../protocol/close-codes.ts';

/** One client's socket as a session sees it: frames out, a close with a row of the table. */
export interface Connection {
  /** Queues one text frame. A `kind` that may be lost under pressure is dropped and counted when the reader is too slow. */
  send(frame: string, kind: FrameKind): void;
  /** Starts the closing handshake with the row's code and reason; terminated when the peer does not finish it in time. Idempotent. */
  close(name: CloseName, retryMs?: number): void;
  /** Stops reading until `resume`; frames already read are still delivered. */
  pause(): void;
  resume(): void;
}

/** `answer` and `update` must arrive; `list_changed` coalesces; `progress` and `log` are the first to go. */
export type FrameKind = 'answer' | 'update' | 'list_changed' | 'progress' | 'log';

/** What a connection tells its session, from the moment it is bound. */
export interface FrameReceiver {
  frame(text: string): void;
  /** Once, last: whoever closed it. */
  closed(code: number, by: 'client' | 'gateway'): void;
}
