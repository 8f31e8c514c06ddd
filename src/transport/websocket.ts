import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Connection, FrameReceiver } from '../ports/connection.ts';
import { CLOSE_CODES, closeReason } from '../protocol/close-codes.ts';
import { batchedWrites } from './batched-writes.ts';
import { Binding, type BindingDeps, type BoundSocket, type Wire } from './binding.ts';
import { type HeartbeatOptions, startHeartbeat } from './heartbeat.ts';
import type { OutboxLimits } from './outbox.ts';
import { taken, untaken } from './untaken.ts';

export type { BoundSocket } from './binding.ts';

export interface WebSocketDeps extends BindingDeps {
  readonly random: () => number;
}

/** TCP probes, in milliseconds. */
const PROBE_MS = 30_000;
/** Where `ws` itself ends a connection for what the peer sent (RFC 6455 section 7.4.1). */
const PROTOCOL_FAULTS = new Map<unknown, number>([
  ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH', CLOSE_CODES.too_big.code],
  ['WS_ERR_INVALID_UTF8', CLOSE_CODES.bad_utf8.code],
]);

/**
 * Binds one upgraded socket (`stream` is the TCP or TLS stream under it): listeners are attached before this returns, so no frame is lost. One text frame is one
 * message; a binary frame ends the connection (1003). The receiver hears `closed` exactly once.
 */
export function bindWebSocket(
  socket: WebSocket,
  stream: Socket,
  limits: OutboxLimits & HeartbeatOptions,
  deps: WebSocketDeps,
  receiverOf: (connection: Connection) => FrameReceiver,
): BoundSocket {
  const binding = new Binding(wireOver(socket, stream), limits, deps);
  // One that goes between two pings, or in a pause, which lasts for seconds, is found by the system's own probes.
  stream.setKeepAlive(true, PROBE_MS);
  const stopHeartbeat = startHeartbeat(limits, deps.clock, deps.random, {
    ping: (left) => socket.ping(undefined, undefined, left),
    bytesRead: () => stream.bytesRead,
    backlog: () => socket.bufferedAmount,
    taken: () => taken(stream),
    paused: () => socket.isPaused,
    lost: () => binding.lost(),
  });
  binding.bind(receiverOf);
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) binding.close('binary');
    else binding.received(data.toString(), byteLength(data));
  });
  socket.on('error', (error) => binding.broken('code' in error ? PROTOCOL_FAULTS.get(error.code) : undefined));
  socket.once('close', (peerCode) => {
    stopHeartbeat();
    binding.gone(peerCode);
  });
  return binding;
}

function wireOver(socket: WebSocket, stream: Socket): Wire {
  const batch = batchedWrites(stream);
  return {
    buffered: () => socket.bufferedAmount,
    untaken: () => untaken(stream),
    write(frame) {
      if (socket.readyState !== socket.OPEN) return 0;
      const bytes = Buffer.from(frame);
      batch();
      socket.send(bytes, { binary: false, compress: false });
      return bytes.length;
    },
    end: (name, retryMs) => socket.close(CLOSE_CODES[name].code, closeReason(name, retryMs)),
    terminate: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

function byteLength(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength;
}
