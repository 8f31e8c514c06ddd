import type { Socket } from 'node:net';
import type { Cancel } from '../ports/clock.ts';
import type { Connection, FrameReceiver } from '../ports/connection.ts';
import { readMessage } from '../protocol/envelope.ts';
import { batchedWrites } from './batched-writes.ts';
import { Binding, type BindingDeps, type BoundSocket, type Wire } from './binding.ts';
import { frameLine, type LineReader, lineReader } from './line-framing.ts';
import type { OutboxLimits } from './outbox.ts';
import { untaken } from './untaken.ts';

export interface TcpLimits extends OutboxLimits {
  /** Bytes of a line; a longer one ends the connection. */
  readonly maxMessage: number;
  readonly depth: number;
  /** Milliseconds until the first line must have come. */
  readonly firstMessage: number;
}

/** Gives the connection its receiver, synchronously; the line that opened it follows. */
export type BindTcp = (receiverOf: (connection: Connection) => FrameReceiver) => BoundSocket;

/** One of the two is called, once, unless the peer goes before. */
export interface FirstLineHeard {
  /** Binds it, or ends the socket. */
  opened(bind: BindTcp): void;
  refused(reason: 'first_line' | 'first_line_late'): void;
}

/** Bytes of the line that opens a connection: all it may have kept before it is known to speak the protocol. */
const MAX_FIRST_LINE = 64 * 1024;

/**
 * Takes a socket that speaks newline-delimited JSON-RPC. Its first line must be a request, or the socket ends before
 * anything behind it is read: a web page can make a browser connect here, and what a browser sends first is `POST / HTTP/1.1`.
 */
export function acceptTcp(socket: Socket, limits: TcpLimits, deps: BindingDeps, heard: FirstLineHeard): void {
  let isOpen = false;
  const reader: LineReader = lineReader({
    get maxLine() {
      return isOpen ? limits.maxMessage : Math.min(limits.maxMessage, MAX_FIRST_LINE);
    },
    onLine: (line) => (isOpen ? binding.received(line, Buffer.byteLength(line)) : first(line)),
    onOversize: () => (isOpen ? binding.close('too_big') : refuse('first_line')),
  });
  const binding = new Binding(wireOver(socket, reader), limits, deps);
  const refuse = (reason: 'first_line' | 'first_line_late') => {
    stopWaiting();
    reader.pause();
    socket.destroy();
    heard.refused(reason);
  };
  const stopWaiting: Cancel = deps.clock.after(limits.firstMessage, () => refuse('first_line_late'));
  const first = (line: string) => {
    if (readMessage(line, limits.depth).kind !== 'request') return refuse('first_line');
    stopWaiting();
    heard.opened((receiverOf) => {
      isOpen = true;
      binding.bind(receiverOf);
      return binding;
    });
    // One that is turned away was never open, and says nothing more.
    if (isOpen) binding.received(line, Buffer.byteLength(line));
    else reader.pause();
  };
  let peerCode = 1006;
  socket.on('data', (chunk: Buffer) => reader.push(chunk));
  socket.on('error', () => {});
  socket.once('end', () => {
    peerCode = 1000;
  });
  socket.once('close', () => {
    stopWaiting();
    if (isOpen) binding.gone(peerCode);
  });
}

function wireOver(socket: Socket, reader: LineReader): Wire {
  const batch = batchedWrites(socket);
  return {
    buffered: () => socket.writableLength,
    untaken: () => untaken(socket),
    write(frame) {
      if (!socket.writable) return 0;
      const bytes = Buffer.from(frameLine(frame));
      batch();
      socket.write(bytes);
      return bytes.length;
    },
    end: () => socket.end(),
    terminate: () => socket.destroy(),
    pause() {
      reader.pause();
      socket.pause();
    },
    // What was read before may pause it anew.
    resume() {
      reader.resume();
      if (!reader.paused) socket.resume();
    },
  };
}
