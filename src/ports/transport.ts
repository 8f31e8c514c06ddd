import type { Era } from '../protocol/era.ts';
import type { MirroredValue } from '../protocol/mirrored-values.ts';

/** A duplex channel of JSON-RPC messages as text: one compact message a call, no framing, no parsing. */
export interface Channel {
  /**
   * Queues one message, in order. Returns when queued, not when drained. `id` is set when the message is a request, so
   * that a channel that can fail one message (HTTP) can name it. False once the channel has ended: nothing was queued.
   */
  send(message: string, id?: number, about?: About): boolean;
  /**
   * No answer to this id is wanted any more: it was cancelled, timed out, or came another way. Unknown ids are ignored.
   * Absent where all that comes is in one order. What the peer has said of it meanwhile is passed on for `lingerMs`, absent: 0.
   */
  forget?(id: number, lingerMs?: number): void;
  /** True where parameters of tools are said beside the message (`About.params`). */
  readonly mirrors?: boolean;
  /** Bytes that `send` has taken and the peer has not; absent where nothing waits for the peer to read. */
  readonly backlog?: number;
  /** Of `backlog`, what waits for a connection of its own to come about, where each request has one. */
  readonly unconnected?: number;
  /** Of the write under way, the bytes that have not gone, where `backlog` counts it in full until its end. */
  readonly untaken?: number;
  /** Stops delivery until `resume`; what the peer sends meanwhile waits in the peer's own pipe. */
  pause(): void;
  resume(): void;
  /** Ends the channel and all it opened. Idempotent; resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** What a request is about, for a channel that says so beside the message (Streamable HTTP of 2026-07-28: `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`). */
export interface About {
  readonly method: string;
  /** The tool's or prompt's name, or the URI. */
  readonly name: string | undefined;
  readonly params?: readonly MirroredValue[];
}

/** What a channel tells its owner. Installed before anything is read, so no message is lost. */
export interface Receiver {
  message(text: string): void;
  /** The request sent under `id` will get no answer, the channel lives on (an HTTP status, an over-long answer). */
  failed(id: number, failure: ChannelFailure): void;
  /** Once, last, also after `close()`. `cause` is for the log and is absent when the owner closed. */
  closed(cause?: Error): void;
}

export interface ChannelFailure {
  reason: 'upstream_unavailable' | 'upstream_closed' | 'too_large';
  /** For the log, never for a peer. */
  cause: Error;
  /** The peer has forgotten the MCP session (Streamable HTTP 404): initialise anew, then the request may be sent again. */
  sessionGone?: true;
}

/**
 * Opens a channel on which messages of this era are spoken; most channels carry both alike, and absent means handshake.
 * Resolves when it can carry messages; rejects with the cause, having released everything.
 */
export type Dial = (receiver: Receiver, signal: AbortSignal, era?: Era) => Promise<Channel>;
