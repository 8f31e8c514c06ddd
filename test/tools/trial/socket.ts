import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { encodeFrame, FrameReader, OPCODES } from './frames.ts';

/** How often a refused upgrade is tried again, and after how many milliseconds. */
const TRIES = 60;
const RETRY = 250;

/** How a socket has ended: the close code that was read, 1006 where there was none. */
export interface Ended {
  readonly code: number;
  readonly reason: string;
}

/** A client's end of one connection, down to its bytes. */
export interface RawSocket {
  onText: (text: string) => void;
  onEnded: (ended: Ended) => void;
  readonly ended: Ended | undefined;
  /** One message, as it should be written. */
  send(text: string | Buffer): void;
  write(bytes: Buffer): void;
  /** Stops and starts reading. */
  pause(): void;
  resume(): void;
  /** Ends it as a client should. */
  close(): void;
  /** Cuts it: with RST, or with FIN. */
  reset(): void;
  cut(): void;
}

/** The request of an upgrade, without fault. */
export function upgradeLines(port: number, token: string | undefined): string[] {
  return [
    'GET /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: mcp',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
  ];
}

/** Upgrades; tries again for a while where the gateway is busy, else rejects with the status it is refused with. */
export async function openWebSocket(port: number, token?: string): Promise<RawSocket> {
  for (let tries = 1; ; tries += 1) {
    const opened = await tryWebSocket(port, token);
    if (typeof opened !== 'string') return opened;
    if (!/ (429|503) /.test(opened) || tries === TRIES) throw new Error(opened);
    await after(RETRY);
  }
}

/** The socket, or the status line of the refusal. */
function tryWebSocket(port: number, token: string | undefined): Promise<RawSocket | string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let head = Buffer.alloc(0);
    const opening = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      socket.off('data', opening);
      const [status = ''] = head.toString('latin1', 0, end).split('\r\n');
      if (!status.startsWith('HTTP/1.1 101 ')) {
        socket.destroy();
        return resolve(status);
      }
      const opened = new RawWebSocket(socket);
      resolve(opened);
      // After whoever waits has it in hand.
      setImmediate(() => opened.read(head.subarray(end + 4)));
    };
    socket.on('data', opening);
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('closed before its upgrade')));
    socket.write(`${upgradeLines(port, token).join('\r\n')}\r\n\r\n`);
  });
}

abstract class Raw {
  onText: (text: string) => void = () => {};
  onEnded: (ended: Ended) => void = () => {};
  ended: Ended | undefined;
  protected readonly socket: Socket;
  protected heard: Ended = { code: 1006, reason: '' };

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.once('end', () => socket.end());
    socket.once('close', () => {
      this.ended = this.heard;
      this.onEnded(this.heard);
    });
  }

  abstract read(chunk: Buffer): void;

  write(bytes: Buffer): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  cut(): void {
    this.socket.destroy();
  }
}

class RawWebSocket extends Raw implements RawSocket {
  private readonly frames = new FrameReader();

  read(chunk: Buffer): void {
    for (const { opcode, payload } of this.frames.push(chunk)) {
      if (opcode === OPCODES.text) this.onText(payload.toString());
      else if (opcode === OPCODES.ping) this.write(encodeFrame(payload, { opcode: OPCODES.pong }));
      else if (opcode === OPCODES.close) this.closed(payload);
    }
  }

  send(text: string | Buffer): void {
    this.write(encodeFrame(Buffer.from(text)));
  }

  close(): void {
    this.write(encodeFrame(Buffer.from([0x03, 0xe8]), { opcode: OPCODES.close }));
  }

  private closed(payload: Buffer): void {
    const code = payload.length < 2 ? 1005 : payload.readUInt16BE(0);
    this.heard = { code, reason: payload.toString('utf8', 2) };
    this.write(encodeFrame(payload, { opcode: OPCODES.close }));
    this.socket.end();
  }
}

/** Messages on lines (`listen.tcp`). */
export function openLines(port: number): Promise<RawSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(new RawLines(socket)));
    socket.setNoDelay(true);
    socket.on('error', reject);
  });
}

class RawLines extends Raw implements RawSocket {
  private waiting = '';

  read(chunk: Buffer): void {
    const lines = (this.waiting + chunk.toString()).split('\n');
    this.waiting = lines.pop() ?? '';
    for (const line of lines) this.onText(line);
  }

  send(text: string | Buffer): void {
    this.write(Buffer.concat([Buffer.from(text), Buffer.from('\n')]));
  }

  close(): void {
    this.socket.end();
  }
}
