import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Connection, FrameReceiver } from '../ports/connection.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { CLOSE_CODES, type CloseName, closeReason } from '../protocol/close-codes.ts';
import { batchedWrites } from './batched-writes.ts';
import { type HeartbeatOptions, startHeartbeat } from './heartbeat.ts';
import { Outbox, type OutboxLimits } from './outbox.ts';

export interface WebSocketDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly random: () => number;
}

/** A bound socket as its registry sees it. */
export interface BoundSocket extends Connection {
  buffered(): number;
}

const CLOSE_GRACE_MS = 1000;
const KNOWN_CODES = new Set<number>([1005, 1006, ...Object.values(CLOSE_CODES).map((row) => row.code)]);
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
  const { clock, meter, random } = deps;
  let closedBy: 'client' | 'gateway' = 'client';
  let code: number | undefined;
  let stopTerminate: Cancel = () => {};
  const outbound = meter.counter('messages_total', { direction: 'out' });
  const outboundBytes = meter.counter('bytes_total', { direction: 'out' });
  const inbound = meter.counter('messages_total', { direction: 'in' });
  const inboundBytes = meter.counter('bytes_total', { direction: 'in' });

  const batch = batchedWrites(stream);
  const write = (frame: string) => {
    if (socket.readyState !== socket.OPEN) return;
    outbound.add();
    const bytes = Buffer.from(frame);
    outboundBytes.add(bytes.length);
    batch();
    socket.send(bytes, { binary: false, compress: false });
  };
  const close = (name: CloseName, retryMs?: number) => {
    if (closedBy === 'gateway') return;
    closedBy = 'gateway';
    code = CLOSE_CODES[name].code;
    socket.resume();
    socket.close(code, closeReason(name, retryMs));
    stopTerminate = clock.after(CLOSE_GRACE_MS, () => socket.terminate());
  };
  const outbox = new Outbox(limits, { buffered: () => socket.bufferedAmount, write }, clock, meter, () =>
    close('slow_reader'),
  );
  const stopHeartbeat = startHeartbeat(limits, clock, random, {
    ping: (left) => socket.ping(undefined, undefined, left),
    bytesRead: () => stream.bytesRead,
    lost: () => {
      closedBy = 'gateway';
      socket.terminate();
    },
  });
  const connection: BoundSocket = {
    send: (frame, kind) => outbox.send(frame, kind),
    close,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    buffered: () => socket.bufferedAmount,
  };
  const receiver = receiverOf(connection);
  const guarded = (task: () => void) => {
    try {
      task();
    } catch (err) {
      deps.log.error('session_failed', { err });
      close('internal');
    }
  };

  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) return close('binary');
    const text = data.toString();
    inbound.add();
    inboundBytes.add(byteLength(data));
    if (closedBy === 'client') guarded(() => receiver.frame(text));
  });
  socket.on('error', (error) => {
    const known = 'code' in error ? PROTOCOL_FAULTS.get(error.code) : undefined;
    closedBy = 'gateway';
    code ??= known;
    stopTerminate = clock.after(CLOSE_GRACE_MS, () => socket.terminate());
  });
  socket.once('close', (peerCode) => {
    stopHeartbeat();
    outbox.close();
    stopTerminate();
    const final = code ?? peerCode;
    const label = KNOWN_CODES.has(final) ? String(final) : 'other';
    meter.counter('connections_closed_total', { code: label, by: closedBy }).add();
    guarded(() => receiver.closed(final, closedBy));
  });
  return connection;
}

function byteLength(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength;
}
