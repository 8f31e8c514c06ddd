import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Channel } from '../../src/ports/transport.ts';
import { acceptTcp } from '../../src/transport/tcp.ts';
import { dialTcp } from '../../src/upstream/tcp.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

const BIG = 30_000_000;
const MAX = 64_000_000;

/** Both ends of a connection. */
async function joined() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted: Promise<Socket[]> = once(server, 'connection');
  const { port } = Object(server.address());
  onTestFinished(() => void server.close());
  return { accepted, port: Number(port) };
}

function writerOf([socket]: Socket[]): Socket {
  if (socket === undefined) throw new Error('nobody connected');
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Turns of the event loop enough for all that is read to have been read. */
async function turns(): Promise<void> {
  for (let n = 0; n < 200; n += 1) await new Promise(setImmediate);
}

test('an upstream that is paused by what a resume delivers is not read behind that', async () => {
  const { accepted, port } = await joined();
  const messages: string[] = [];
  const deps = { log: recordedLog(), clock: fakeClock(), upstream: 'up' };
  const dial = dialTcp({ host: '127.0.0.1', port, maxMessage: MAX }, deps);
  const over: { channel?: Channel } = {};
  const message = (text: string) => {
    messages.push(text);
    over.channel?.pause();
  };
  over.channel = await dial({ message, failed() {}, closed() {} }, new AbortController().signal);
  const peer = writerOf(await accepted);
  peer.write('1\n2\n3\n');
  await expect.poll(() => messages).toEqual(['1']);
  over.channel.resume();
  expect(messages).toEqual(['1', '2']);
  peer.write(`${'x'.repeat(BIG)}\n`);
  await turns();
  expect(peer.writableLength).toBeGreaterThan(0);
  over.channel.resume();
  over.channel.resume();
  await expect.poll(() => messages.at(-1)?.length, { timeout: 20_000 }).toBe(BIG);
  await over.channel.close();
});

test('nor is a client', async () => {
  const { accepted, port } = await joined();
  const client = connect(port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  const socket = writerOf(await accepted);
  const limits = { maxMessage: MAX, depth: 10, firstMessage: 10_000, outbox: 1000, slowReader: 1000 };
  const deps = { clock: fakeClock(), log: recordedLog(), meter: recordedMeter() };
  const frames: number[] = [];
  const resumed = new Promise<() => void>((resolve) => {
    acceptTcp(socket, limits, deps, {
      refused() {},
      opened: (bind) => {
        bind((connection) => {
          resolve(() => connection.resume('full_pipe'));
          const frame = (text: string) => {
            frames.push(text.length);
            connection.pause('full_pipe');
          };
          return { frame, closed() {} };
        });
      },
    });
  });
  const request = '{"jsonrpc":"2.0","id":1,"method":"x"}';
  client.write(`${request}\n${request}\n${request}\n`);
  const resume = await resumed;
  await expect.poll(() => frames).toEqual([request.length]);
  resume();
  expect(frames).toHaveLength(2);
  client.write(`${'x'.repeat(BIG)}\n`);
  await turns();
  expect(client.writableLength).toBeGreaterThan(0);
});
