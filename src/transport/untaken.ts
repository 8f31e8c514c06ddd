import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';

/**
 * Bytes of the write under way that the operating system has not taken. `writableLength` counts such a write in full until its
 * last byte is taken, which hides a reader that drains slowly; this shrinks with every byte. It is what Node's own socket
 * time-outs go by, read from a handle that is no public API: where that has no such figure, `writableLength` stands in. Over
 * TLS it is no count of bytes: all it tells is that something has gone, by being another one.
 */
export function untaken(stream: Writable): number {
  return queues(stream) ?? stream.writableLength;
}

/** A figure that is another one whenever the operating system has taken bytes for the peer. */
export function taken(stream: Socket): number {
  // `bytesWritten` has what waits in it: where the handle has no figure, the difference is what the writes gone in full had.
  return stream.bytesWritten - stream.writableLength - (queues(stream) ?? 0);
}

/** TLS encrypts at once; what the peer has not taken waits in the socket below it. */
function queues(stream: Writable): number | undefined {
  const handle = memberOf(stream, '_handle');
  const own = queueOf(handle);
  return own === undefined ? undefined : own + (queueOf(memberOf(handle, '_parent')) ?? 0);
}

function queueOf(handle: unknown): number | undefined {
  const size = memberOf(handle, 'writeQueueSize');
  return typeof size === 'number' ? size : undefined;
}

function memberOf(holder: unknown, name: string): unknown {
  return typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined;
}
