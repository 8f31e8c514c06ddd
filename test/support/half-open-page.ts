import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** An upgrade as a page sends it, by a peer that never ends its own half of the connection. */
export interface HalfOpenPage {
  readonly socket: Socket;
  /** The HTTP status, and the close frame behind a 101. */
  readonly status: number;
  readonly close: { readonly code: number; readonly reason: string } | undefined;
}

const CLOSE = 0x88;

/** Resolves when the server has ended its half. `path` may have a query; `frames` follow the upgrade in the same segment. */
export function halfOpenPage(
  url: string,
  path: string,
  origin: string,
  frames: Uint8Array = new Uint8Array(),
): Promise<HalfOpenPage> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const lines = [
    `GET ${path} HTTP/1.1`,
    `host: ${host}`,
    `origin: ${origin}`,
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol: mcp',
  ];
  socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), frames]));
  const heard: Buffer[] = [];
  socket.on('data', (chunk) => heard.push(chunk));
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('end', () => resolve({ socket, ...read(Buffer.concat(heard)) }));
  });
}

function read(bytes: Buffer): Pick<HalfOpenPage, 'status' | 'close'> {
  const status = Number(bytes.toString('latin1', 9, 12));
  const frame = bytes.subarray(bytes.indexOf('\r\n\r\n') + 4);
  if (status !== 101) return { status, close: undefined };
  // One whole close frame and nothing else (RFC 6455 section 5.5.1).
  if (frame[0] !== CLOSE || frame.length !== 2 + (frame[1] ?? 0))
    throw new Error(`not a close: ${frame.toString('hex')}`);
  return { status, close: { code: frame.readUInt16BE(2), reason: frame.toString('utf8', 4) } };
}
