import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { startGateway } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';

const SEAL = { keys: ['a seal key of replicas in tests, 32 bytes'] };

/** Takes connections and says nothing. */
async function silentRedis(): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => open.add(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test('nobody is let in while the start waits for a Redis that says nothing; then the gateway serves without it', async () => {
  const [port, ops] = [await freePort(), await freePort()];
  const bus = { redis: `redis://127.0.0.1:${await silentRedis()}` };
  const starting = startGateway({ listen: { port }, ops: { port: ops }, seal: SEAL, bus });
  await expect.poll(() => takesConnections(ops)).toBe(true);
  expect(await takesConnections(port)).toBe(false);
  const gateway = await starting;
  expect(await (await openRaw(gateway.url)).barrier()).toEqual([]);
});
