import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import type { TcpAddress } from '../../src/http/listen.ts';
import { lineReader } from '../../src/transport/line-framing.ts';
import { type FrameTapOptions, tapFrames } from './frame-tap.ts';
import { queue } from './stdio/puppet.ts';

export interface RawTcp {
  readonly socket: Socket;
  /** Sends a message as one line, or a text as it is. */
  send(message: object | string): void;
  /** The next line; undefined once the connection has ended. */
  next(): Promise<string | undefined>;
  ask(message: object): Promise<unknown>;
  initialize(): Promise<unknown>;
  /** Everything still to come until the connection has ended. */
  rest(): Promise<string[]>;
}

export interface RawTcpOptions extends FrameTapOptions {
  /** Over TLS: whom to believe, and the certificate to show. Counts as connected once the client has done its part of the handshake. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'maxVersion' | 'session'>;
}

/** Where a gateway's TCP listener is, as `net.connect` takes it. */
export function targetOf(address: TcpAddress | undefined): NetConnectOpts & ConnectionOptions {
  if (address === undefined) throw new Error('there is no TCP listener');
  return 'socket' in address ? { path: address.socket } : { host: address.host, port: address.port };
}

/** A bare TCP client that speaks lines: none is missed. Destroyed, and its lines judged, when the test ends. */
export async function connectTcp(address: TcpAddress | undefined, options: RawTcpOptions = {}): Promise<RawTcp> {
  const { tls, ...taps } = options;
  const tap = tapFrames(taps);
  const socket = tls === undefined ? connect(targetOf(address)) : connectTls({ ...targetOf(address), ...tls });
  onTestFinished(() => void socket.destroy());
  const lines = queue<string | undefined>();
  const hear = (line: string) => {
    tap.received(line);
    lines.put(line);
  };
  const reader = lineReader({ maxLine: 64e6, onLine: hear, onOversize: () => lines.put('oversize') });
  socket.on('data', (chunk: Buffer) => reader.push(chunk));
  socket.on('error', () => {});
  socket.once('close', () => lines.put(undefined));
  await once(socket, tls === undefined ? 'connect' : 'secureConnect');
  const send: RawTcp['send'] = (message) => {
    for (const line of typeof message === 'string' ? message.split('\n') : [message]) tap.sent(line);
    socket.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`);
  };
  const ask: RawTcp['ask'] = async (message) => {
    send(message);
    return JSON.parse((await lines.take()) ?? 'null');
  };
  return {
    socket,
    send,
    next: lines.take,
    ask,
    async initialize() {
      const clientInfo = { name: 'raw', version: '0' };
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      const answer = await ask({ jsonrpc: '2.0', id: 'init', method: 'initialize', params });
      send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return answer;
    },
    async rest() {
      const all: string[] = [];
      for (let line = await lines.take(); line !== undefined; line = await lines.take()) all.push(line);
      return all;
    },
  };
}

/** The same connection for a client of either SDK. */
export function tcpTransport(address: TcpAddress | undefined): Transport {
  const socket = new Promise<Socket>((resolve) => {
    const opening = connect(targetOf(address));
    opening.once('connect', () => resolve(opening));
  });
  const transport: Transport = {
    async start() {
      const open = await socket;
      const reader = lineReader({
        maxLine: 64e6,
        onLine: (line) => transport.onmessage?.(JSON.parse(line)),
        onOversize: () => {},
      });
      open.on('data', (chunk: Buffer) => reader.push(chunk));
      open.on('error', () => {});
      open.once('close', () => transport.onclose?.());
    },
    send: async (message) => void (await socket).write(`${JSON.stringify(message)}\n`),
    async close() {
      const open = await socket;
      if (open.closed) return;
      open.destroy();
      await once(open, 'close');
    },
  };
  return transport;
}
