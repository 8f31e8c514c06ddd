import type { CloseName } from '../protocol/close-codes.ts';

/** One client's socket as a session sees it: frames out, a close with a row of the table. */
export interface Connection {
  /**
   * Queues one text frame. A `kind` that may be lost under pressure is dropped and counted when the reader is too slow.
   * `shared`: it comes from a link that is not paused for one reader, so a reader too slow for it is given up.
   */
  send(frame: string, kind: FrameKind, from?: 'shared'): void;
  /** So many bytes more, or fewer, are held back for this client before `send`. */
  hold(bytes: number): void;
  /** Starts the closing handshake with the row's code and reason; terminated when the peer does not finish it in time. Idempotent. */
  close(name: CloseName, retryMs?: number): void;
  /** Stops reading, for this reason, until `resume` for the same; frames already read are still delivered. Both are idempotent. */
  pause(why: PauseReason): void;
  resume(why: PauseReason): void;
}

/** `answer` and `update` must arrive; `list_changed` coalesces; `progress` and `log` are the first to go. */
export type FrameKind = 'answer' | 'update' | 'list_changed' | 'progress' | 'log';

/** The session is being opened, or what its client wrote waits for an upstream that reads slowly. */
export type PauseReason = 'opening' | 'full_pipe';

/** What a connection tells its session, from the moment it is bound. */
export interface FrameReceiver {
  frame(text: string): void;
  /** More waits for the client than may, or no more: what only this client fills it with is to be stopped meanwhile. */
  crowded?(isCrowded: boolean): void;
  /** Once, last: whoever closed it. */
  closed(code: number, by: 'client' | 'gateway'): void;
}
