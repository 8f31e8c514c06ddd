import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { acceptTcp } from '../../src/transport/tcp.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

test('a connection that is turned away at its first line was never open: it is neither read nor counted as closed', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const accepted: Promise<Socket[]> = once(server, 'connection');
  const client = connect(Object(server.address()).port, '127.0.0.1');
  client.on('error', () => {});
  const [socket] = await accepted;
  if (socket === undefined) throw new Error('nobody connected');
  const meter = recordedMeter();
  const limits = { maxMessage: 1000, depth: 10, firstMessage: 10_000, outbox: 1000, slowReader: 1000 };
  const heard: string[] = [];
  acceptTcp(
    socket,
    limits,
    { clock: fakeClock(), log: recordedLog(), meter },
    {
      refused: (reason) => void heard.push(reason),
      opened() {
        heard.push('opened');
        socket.destroy();
      },
    },
  );
  client.write(PING + PING);
  await once(socket, 'close');
  expect(heard).toEqual(['opened']);
  expect(meter.read('messages_total', { direction: 'in' })).toBe(0);
  expect(meter.read('connections_closed_total', { code: '1006', by: 'client' })).toBe(0);
});
