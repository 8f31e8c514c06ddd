import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
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

  test('reads nothing while paused', async () => {
    const { accept, peer, dispose } = await openSocket([]);
    onTestFinished(dispose);
    const { socket, stream } = await accept();
    const frames: string[] = [];
    const receiver = { frame: (text: string) => void frames.push(text), closed() {} };
    const connection = bindWebSocket(socket, stream, LIMITS, DEPS, () => receiver);
    connection.pause('full_pipe');
    await peer.send('1', '2', '3');
    for (let round = 0; round < 10; round += 1) {
      connection.send('here', 'answer');
      await peer.next();
    }
    expect(frames).toEqual([]);
    connection.resume('full_pipe');
    await expect.poll(() => frames).toEqual(['1', '2', '3']);
  });
});

const LIMITS = { outbox: 64e6, slowReader: 10_000, pingInterval: 25_000, pongTimeout: 10_000 };
const DEPS = { clock: realClock, log: recordedLog(), meter: recordedMeter(), random: Math.random };

async function websocketChannel(greeting: readonly string[]): Promise<ChannelUnderTest> {
  const { accept, peer, opened, dispose } = await openSocket(greeting);
  const dial: Dial = async (receiver, signal) => {
    signal.throwIfAborted();
    const { socket, stream } = await accept();
    return channelOver(socket, stream, receiver);
  };
  return { dial, peer: () => opened.then(() => peer), dispose };
}

interface Accepted {
  readonly socket: WebSocket;
  readonly stream: Socket;
}

/** A `ws` client that the test moves, and the way to accept it. */
async function openSocket(greeting: readonly string[]) {
  const http = createServer();
  const server = new WebSocketServer({ noServer: true });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  const asked = new Promise<() => Promise<Accepted>>((resolve) => {
    http.once('upgrade', (request, stream, head) => {
      const upgrade = (done: (accepted: Accepted) => void) =>
        server.handleUpgrade(request, stream, head, (socket) => done({ socket, stream: request.socket }));
      resolve(() => new Promise(upgrade));
    });
  });
  const client = new WebSocket(`ws://127.0.0.1:${address.port}`);
  const inbox = queue<string>();
  client.on('message', (data) => inbox.put(data.toString()));
  client.on('error', () => {});
  const opened = new Promise<void>((resolve) => {
    client.once('open', () => {
      for (const message of greeting) client.send(message);
      resolve();
    });
  });
  const peer: Peer = {
    async send(...messages) {
      await opened;
      await Promise.all(messages.map((message) => new Promise((done) => client.send(message, done))));
    },
    next: inbox.take,
    end: async () => client.close(1000),
  };
  const dispose = async () => {
    client.terminate();
    http.closeAllConnections();
    http.close();
  };
  return { accept: async () => (await asked)(), peer, opened, dispose };
}

/**
 * The connection as a channel. A paused connection still delivers what it has read, as its port says and as a session
 * copes with; what comes then is kept here.
 */
function channelOver(socket: WebSocket, stream: Socket, receiver: Receiver): Channel {
  const held: string[] = [];
  let isPaused = false;
  let isOpen = true;
  const over = once(socket, 'close').then(() => {});
  const deliver = () => {
    for (let next = held[0]; next !== undefined && !isPaused; next = held[0]) {
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
      isOpen = false;
      receiver.closed(by === 'gateway' ? undefined : new Error(`the peer closed with ${code}`));
    },
  };
  const connection: Connection = bindWebSocket(socket, stream, LIMITS, DEPS, () => frames);
  return {
    send(message) {
      if (!isOpen) return false;
      connection.send(message, 'answer');
      return true;
    },
    pause() {
      isPaused = true;
      connection.pause('full_pipe');
    },
    resume() {
      isPaused = false;
      connection.resume('full_pipe');
      deliver();
    },
    close() {
      isOpen = false;
      held.length = 0;
      connection.close('done');
      return over;
    },
  };
}
