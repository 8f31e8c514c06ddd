import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Dial } from '../../src/ports/transport.ts';
import { lineReader } from '../../src/transport/line-framing.ts';
import { dialTcp } from '../../src/upstream/tcp.ts';
import { dialWebSocket } from '../../src/upstream/websocket.ts';
import { type ChannelUnderTest, channelKit, type Peer } from '../kits/transport-kit.ts';
import { recordedLog } from '../support/recorded.ts';
import { queue } from '../support/stdio/puppet.ts';
import { realClock } from '../support/stdio/recorders.ts';

describe('ws upstream channel', () => {
  channelKit(websocketChannel);
});

describe('tcp upstream channel', () => {
  channelKit(tcpChannel);
});

async function websocketChannel(greeting: readonly string[]): Promise<ChannelUnderTest> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const peers = queue<Peer>();
  server.on('connection', (socket) => {
    const inbox = queue<string>();
    socket.on('message', (data) => inbox.put(data.toString()));
    socket.on('error', () => {});
    for (const message of greeting) socket.send(message);
    peers.put({
      send: async (...messages) => {
        await Promise.all(messages.map((message) => new Promise((done) => socket.send(message, done))));
      },
      next: inbox.take,
      end: async () => socket.close(1000),
    });
  });
  const dial = dialWebSocket(
    {
      url: `ws://127.0.0.1:${portOf(server.address())}`,
      headers: {},
      maxMessage: 16e6,
      heartbeat: { pingInterval: 25_000, pongTimeout: 10_000 },
    },
    { log: recordedLog(), upstream: 'up' },
  );
  return underTest(dial, peers.take, () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
}

async function tcpChannel(greeting: readonly string[]): Promise<ChannelUnderTest> {
  const peers = queue<Peer>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const inbox = queue<string>();
    const reader = lineReader({ maxLine: 64e6, onLine: inbox.put, onOversize: () => inbox.put('oversize') });
    sockets.add(socket);
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
    socket.on('error', () => {});
    const write = (messages: readonly string[]) =>
      new Promise<void>((done) => socket.write(messages.map((message) => `${message}\n`).join(''), () => done()));
    if (greeting.length > 0) void write(greeting);
    peers.put({ send: (...messages) => write(messages), next: inbox.take, end: async () => void socket.end() });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dial = dialTcp(
    { host: '127.0.0.1', port: portOf(server.address()), maxMessage: 16e6 },
    { log: recordedLog(), clock: realClock, upstream: 'up' },
  );
  return underTest(dial, peers.take, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

function underTest(dial: Dial, takePeer: () => Promise<Peer>, stop: () => void): ChannelUnderTest {
  const open = new Set<() => Promise<void>>();
  return {
    async dial(receiver, signal) {
      const channel = await dial(receiver, signal);
      open.add(() => channel.close());
      return channel;
    },
    peer: takePeer,
    async dispose() {
      for (const close of open) await close();
      stop();
    },
  };
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}
