import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { dialWebSocket } from '../../src/upstream/websocket.ts';
import { recordedLog } from '../support/recorded.ts';

const BIG = 20_000_000;

test('of a message that an upstream over WebSocket has taken in part, what it has not is known', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const peer = new Promise<WebSocket>((resolve) => {
    server.once('connection', (socket) => {
      socket.pause();
      onTestFinished(() => socket.terminate());
      resolve(socket);
    });
  });
  const url = `ws://127.0.0.1:${Object(server.address()).port}/`;
  const heartbeat = { pingInterval: 3_600_000, pongTimeout: 3_600_000 };
  const dial = dialWebSocket({ url, headers: {}, maxMessage: 1000, heartbeat }, { log: recordedLog(), upstream: 'up' });
  const channel = await dial({ message() {}, failed() {}, closed() {} }, new AbortController().signal);
  channel.send('x'.repeat(BIG));
  await expect.poll(() => channel.untaken).toBeLessThan(BIG);
  expect(channel.untaken).toBeGreaterThan(0);
  expect(channel.backlog).toBeGreaterThanOrEqual(BIG);
  (await peer).resume();
  await expect.poll(() => [channel.untaken, channel.backlog]).toEqual([0, 0]);
  await channel.close();
});
