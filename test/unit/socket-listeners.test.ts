import { type EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { systemClock } from '../../src/observe/clock.ts';
import { untaken } from '../../src/transport/untaken.ts';
import { bindWebSocket } from '../../src/transport/websocket.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

const LIMITS = { outbox: 3_000_000, slowReader: 60_000, pingInterval: 60_000, pongTimeout: 60_000 };

function portOf(address: ReturnType<Socket['address']> | string | null): number {
  if (address === null || typeof address === 'string' || !('port' in address))
    throw new Error('not listening on a port');
  return address.port;
}

function listenersOf(emitter: EventEmitter): number {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
}

test('neither a send nor a full outbox leaves a listener behind on the socket', async () => {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${portOf(http.address())}`);
  onTestFinished(() => void [client.terminate(), http.close(), http.closeAllConnections()]);
  const accepted = new Promise<{ readonly socket: WebSocket; readonly stream: Socket }>((resolve) => {
    server.once('connection', (socket, request) => resolve({ socket, stream: request.socket }));
  });
  await once(client, 'open');
  client.pause();
  const { socket, stream } = await accepted;
  const deps = { clock: systemClock(), log: recordedLog(), meter: recordedMeter(), random: Math.random };
  const connection = bindWebSocket(socket, stream, LIMITS, deps, () => ({ frame() {}, closed() {} }));
  const before = [listenersOf(socket), listenersOf(stream)];
  const frame = 'x'.repeat(1000);
  for (let round = 0; round < 100; round += 1) {
    for (let n = 0; n < 25; n += 1)
      for (const kind of ['answer', 'update', 'list_changed', 'progress'] as const) connection.send(frame, kind);
    await new Promise(setImmediate);
  }
  expect(deps.meter.read('frames_dropped_total', { kind: 'progress' })).toBeGreaterThan(0);
  expect([listenersOf(socket), listenersOf(stream)]).toEqual(before);
});

test('what has gone of a write under way is seen, where the length of the buffer hides it', async () => {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = connect(portOf(server.address()), '127.0.0.1');
  const [reader]: Socket[] = await once(server, 'connection');
  onTestFinished(() => void [sender.destroy(), server.close()]);
  if (reader === undefined) throw new Error('nobody connected');
  reader.pause();
  sender.write(Buffer.alloc(30_000_000));
  await expect.poll(() => untaken(sender)).toBeGreaterThan(0);
  const first = untaken(sender);
  let read = 0;
  reader.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > 8_000_000) reader.pause();
  });
  reader.resume();
  await expect.poll(() => untaken(sender)).toBeLessThan(first);
  expect(sender.writableLength).toBe(30_000_000);
});
