import type { Socket } from 'node:net';
import WebSocket, { type RawData } from 'ws';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';
import { UpgradeRefusedError } from './refused.ts';

export interface SocketOptions {
  /** ws or wss. */
  readonly url: URL;
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes; a longer message is dropped, one of more than four times that ends the socket (1009). */
  readonly maxMessage: number;
  readonly heartbeat: Heartbeat;
  /** `one`: no two messages are delivered in one turn of the event loop. */
  readonly inOneTurn: 'one' | 'many';
}

export interface SocketEvents {
  message(text: string): void;
  /** A message that is handed to nobody. */
  dropped(message: DroppedMessage): void;
  /** Once, last, also after `close()`; never for a socket that did not open. */
  closed(end: SocketEnd): void;
}

export interface DroppedMessage {
  readonly why: 'binary' | 'too_large';
  readonly bytes: number;
  /** The first and last 4 KiB, decoded. */
  readonly head: string;
  readonly tail: string;
}

export interface SocketEnd {
  /** RFC 6455 section 7.4; 1006 when the peer just went. */
  readonly code: number;
  readonly reason: string;
  readonly cause?: Error;
}

/** An open socket, text in and text out. Everything that needs `ws` is in this file. */
export interface OpenSocket {
  /** Bytes taken and not yet written. */
  readonly buffered: number;
  /** What it runs over, for figures alone. */
  readonly stream: Socket | undefined;
  /** Queues one message, in order; false once the socket is ending. `done` is called when it has left or cannot. */
  send(text: string, done?: (error?: Error | null) => void): boolean;
  /** Reads nothing until `resume`; what has been read is still delivered. */
  pause(): void;
  resume(): void;
  /** Says goodbye (1000) and cuts the socket when that is not answered within a second. Idempotent; resolves when it is gone. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 1000;
const EXCERPT = 4096;
const FAR_TOO_LARGE = 4;

/**
 * Connects; nothing is read before the promise's own continuation has run. Rejects with an UpgradeRefusedError when the server answers
 * with a status, with the cause when there is no answer, and with the signal's reason when it aborts before the socket is open.
 */
export function openSocket(options: SocketOptions, events: SocketEvents, signal: AbortSignal): Promise<OpenSocket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const { url, protocols, headers, maxMessage } = options;
    const socket = new WebSocket(url, [...protocols], {
      headers: { ...headers },
      maxPayload: FAR_TOO_LARGE * maxMessage,
      perMessageDeflate: false,
      allowSynchronousEvents: options.inOneTurn === 'many',
    });
    const aborted = () => {
      reject(signal.reason);
      socket.terminate();
    };
    signal.addEventListener('abort', aborted, { once: true });
    const settled = () => signal.removeEventListener('abort', aborted);
    let stream: Socket | undefined;
    socket.once('upgrade', (response) => {
      stream = response.socket;
    });
    socket.on('message', (data, isBinary) => receive(data, isBinary, maxMessage, events));
    socket.once('open', () => {
      settled();
      resolve(openedSocket(socket, stream, options.heartbeat, events));
    });
    socket.once('unexpected-response', (_request, { statusCode = 0, headers: answered }) => {
      reject(new UpgradeRefusedError(statusCode, answered['www-authenticate'], answered['retry-after']));
      socket.terminate();
    });
    socket.on('error', reject);
    socket.once('close', settled);
  });
}

function openedSocket(
  socket: WebSocket,
  stream: Socket | undefined,
  heartbeat: Heartbeat,
  events: SocketEvents,
): OpenSocket {
  let cause: Error | undefined;
  let cut: ReturnType<typeof setTimeout> | undefined;
  const stopHeartbeat = startHeartbeat(heartbeat, {
    ping: (left) => socket.ping(undefined, undefined, left),
    bytesRead: () => stream?.bytesRead ?? 0,
    paused: () => socket.isPaused,
    lost: () => {
      cause = new Error('the peer has stopped answering pings');
      socket.terminate();
    },
  });
  let isPaused = false;
  // Whoever waits for the opening has the socket in hand before the first message is read.
  socket.pause();
  setImmediate(() => {
    if (!isPaused) socket.resume();
  });
  const cutSoon = () => {
    // A paused socket would never read that it has ended.
    socket.resume();
    cut ??= setTimeout(() => socket.terminate(), CLOSE_GRACE_MS);
  };
  const gone = new Promise<void>((resolve) => {
    socket.once('close', (code, reason) => {
      stopHeartbeat();
      clearTimeout(cut);
      events.closed({ code, reason: reason.toString(), ...(cause === undefined ? {} : { cause }) });
      resolve();
    });
  });
  socket.on('error', (error) => {
    cause ??= error;
    cutSoon();
  });
  return {
    get buffered() {
      return socket.bufferedAmount;
    },
    stream,
    send(text, done) {
      if (socket.readyState !== socket.OPEN) return false;
      socket.send(text, { binary: false }, done);
      return true;
    },
    pause() {
      isPaused = true;
      socket.pause();
    },
    resume() {
      isPaused = false;
      socket.resume();
    },
    close() {
      socket.close(1000);
      if (socket.readyState !== socket.CLOSED) cutSoon();
      return gone;
    },
  };
}

function receive(data: RawData, isBinary: boolean, maxMessage: number, events: SocketEvents): void {
  const bytes = bytesOf(data);
  if (!isBinary && bytes.length <= maxMessage) return events.message(bytes.toString('utf8'));
  events.dropped({
    why: isBinary ? 'binary' : 'too_large',
    bytes: bytes.length,
    head: bytes.toString('utf8', 0, EXCERPT),
    tail: bytes.toString('utf8', Math.max(0, bytes.length - EXCERPT)),
  });
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
