import { connect, type Socket } from 'node:net';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Channel, Dial, Receiver } from '../ports/transport.ts';
import { batchedWrites } from '../transport/batched-writes.ts';
import { frameLine, type LineReader, lineReader } from '../transport/line-framing.ts';
import { untaken } from '../transport/untaken.ts';
import { tellOversize } from './oversize-answer.ts';

export interface TcpUpstreamOptions {
  readonly host: string;
  readonly port: number;
  /** Bytes a line may have; of a longer one only the request it answers fails. */
  readonly maxMessage: number;
}

export interface TcpUpstreamDeps {
  readonly log: Log;
  readonly clock: Clock;
  /** The upstream's key, for the log. */
  readonly upstream: string;
}

/** Probes on a connection that may say nothing for hours. */
const PROBE_MS = 30_000;
const CLOSE_GRACE_MS = 1000;

/** Host and port of a `tcp://host:port` URL. */
export function tcpTarget(url: string): Pick<TcpUpstreamOptions, 'host' | 'port'> {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}

/** Newline-delimited messages over one TCP connection, in the framing of the stdio transport; the channel lives as long as the connection. */
export function dialTcp(options: TcpUpstreamOptions, deps: TcpUpstreamDeps): Dial {
  return async (receiver, signal) => {
    const socket = await connected(options, signal);
    return new TcpChannel(socket, options.maxMessage, receiver, deps);
  };
}

function connected({ host, port }: TcpUpstreamOptions, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // Paused until the channel listens; what the peer writes meanwhile waits in the socket.
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS });
    const aborted = () => {
      socket.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', aborted, { once: true });
    const settled = () => signal.removeEventListener('abort', aborted);
    socket.once('error', reject);
    socket.once('close', settled);
    socket.once('connect', () => {
      settled();
      resolve(socket);
    });
  });
}

/** Ends by `close()`, or with the connection. What the peer wrote before is delivered first; while paused it waits, and so does `closed`. */
class TcpChannel implements Channel {
  readonly #socket: Socket;
  readonly #reader: LineReader;
  readonly #receiver: Receiver;
  readonly #clock: Clock;
  readonly #batch: () => void;
  readonly #over: Promise<void>;
  #cause: Error | undefined;
  #closing = false;

  constructor(socket: Socket, maxMessage: number, receiver: Receiver, deps: TcpUpstreamDeps) {
    const log = deps.log.child({ upstream: deps.upstream });
    this.#socket = socket;
    this.#receiver = receiver;
    this.#clock = deps.clock;
    this.#batch = batchedWrites(socket);
    this.#reader = lineReader({
      maxLine: maxMessage,
      onLine: (line) => {
        if (!this.#closing) receiver.message(line);
      },
      onOversize: (line) => {
        if (!this.#closing) tellOversize(line, maxMessage, log, receiver);
      },
      onEnd: () => this.#ended(),
    });
    this.#over = new Promise((resolve) => socket.once('close', () => resolve()));
    this.#listen();
  }

  send(message: string): boolean {
    if (this.#closing || !this.#socket.writable) return false;
    this.#batch();
    this.#socket.write(frameLine(message));
    return true;
  }

  get backlog(): number {
    return this.#socket.writableLength;
  }

  get untaken(): number {
    return untaken(this.#socket);
  }

  pause(): void {
    if (this.#closing) return;
    this.#reader.pause();
    this.#socket.pause();
  }

  /** What was read before may pause it anew. */
  resume(): void {
    this.#reader.resume();
    if (!this.#reader.paused) this.#socket.resume();
  }

  async close(): Promise<void> {
    if (!this.#closing) this.#leave();
    await this.#over;
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('data', (chunk: Buffer) => {
      if (!this.#closing) this.#reader.push(chunk);
    });
    socket.on('error', (error) => {
      this.#cause = error;
    });
    socket.once('close', () => (this.#closing ? this.#receiver.closed() : this.#reader.end()));
  }

  /** What was sent still goes out; a peer that does not end its side is cut off. */
  #leave(): void {
    this.#closing = true;
    if (this.#socket.closed) return this.#receiver.closed();
    const stop: Cancel = this.#clock.after(CLOSE_GRACE_MS, () => this.#socket.destroy());
    this.#socket.once('close', stop);
    this.#socket.end();
    this.#socket.resume();
  }

  #ended(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#receiver.closed(new Error('the peer ended the connection', this.#cause && { cause: this.#cause }));
  }
}
