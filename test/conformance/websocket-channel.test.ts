import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { describe } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import type { Connection, FrameReceiver } from '../../src/ports/connection.ts';
import type { Channel, Dial, Receiver } from '../../src/ports/transport.ts';
import { bindWebSocket } from '../../src/transport/websocket.ts';
import { type ChannelUnderTest, channelKit, type Peer } from '../kits/transport-kit.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';
import { queue } from '../support/stdio/puppet.ts';
import { realClock } from '../support/stdio/recorders.ts';

describe('WebSocket connection, held to the contract of a channel', () => {
  channelKit(websocketChannel);
});

const LIMITS = { outbox: 64e6, slowReader: 10_000, pingInterval: 25_000, pongTimeout: 10_000 };
const DEPS = { clock: realClock, log: recordedLog(), meter: recordedMeter(), random: Math.random };

/** A socket the gateway accepted, from a `ws` client that the test moves. */
async function websocketChannel(greeting: readonly string[]): Promise<ChannelUnderTest> {
  const http = createServer();
  const server = new WebSocketServer({ noServer: true });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  const client = new WebSocket(`ws://127.0.0.1:${address.port}`);
  const upgrade = new Promise<(done: (socket: WebSocket, stream: Socket) => void) => void>((resolve) => {
    http.once('upgrade', (request, stream, head) => {
      resolve((done) => server.handleUpgrade(request, stream, head, (socket) => done(socket, request.socket)));
    });
  });
  const inbox = queue<string>();
  client.on('message', (data) => inbox.put(data.toString()));
  client.on('error', () => {});
  const opened = new Promise<void>((resolve) => {
    client.once('open', () => {
      for (const message of greeting) client.send(message);
      resolve();
    });
  });

  const dial: Dial = async (receiver, signal) => {
    signal.throwIfAborted();
    const accept = await upgrade;
    return new Promise((resolve) => accept((socket, stream) => resolve(channelOver(socket, stream, receiver))));
  };
  const peer: Peer = {
    async send(...messages) {
      await Promise.all(messages.map((message) => new Promise((done) => client.send(message, done))));
    },
    next: inbox.take,
    end: async () => client.close(1000),
  };
  return {
    dial,
    peer: () => opened.then(() => peer),
    async dispose() {
      client.terminate();
      http.closeAllConnections();
      http.close();
    },
  };
}

/**
 * The connection as a channel. A paused connection still delivers what it has read, as its port says and as a session
 * copes with; what comes then is kept here.
 */
function channelOver(socket: WebSocket, stream: Socket, receiver: Receiver): Channel {
  const held: string[] = [];
  let isPaused = false;
  let isOver = false;
  const over = once(socket, 'close').then(() => {});
  const deliver = () => {
    for (let next = held[0]; next !== undefined && !isPaused && !isOver; next = held[0]) {
      held.shift();
      receiver.message(next);
    }
  };
  const frames: FrameReceiver = {
    frame(text) {
      held.push(text);
      deliver();
    },
    closed(code, by) {
      isOver = true;
      receiver.closed(by === 'gateway' ? undefined : new Error(`the peer closed with ${code}`));
    },
  };
  const connection: Connection = bindWebSocket(socket, stream, LIMITS, DEPS, () => frames);
  return {
    send(message) {
      if (isOver) return false;
      connection.send(message, 'answer');
      return true;
    },
    pause() {
      isPaused = true;
      connection.pause();
    },
    resume() {
      isPaused = false;
      connection.resume();
      deliver();
    },
    close() {
      isOver = true;
      connection.close('done');
      return over;
    },
  };
}
