import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { toolCall } from '../support/messages.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';

const MIB = 1024 * 1024;

/** Nothing else happens in this process for so long. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a peer that reads a large answer for longer than a pong may take stays', async () => {
  const gateway = await startGateway({
    limits: { pingInterval: '300ms', pongTimeout: '1s', maxUpstreamMessage: '40MiB', slowReader: '10s' },
    mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  const stream = Reflect.get(client.socket, '_socket');
  client.send(toolCall(1, 'up__big', { bytes: 24 * MIB }));
  let [lastPing, longest] = [performance.now(), 0];
  client.socket.on('ping', () => {
    longest = Math.max(longest, performance.now() - lastPing);
    lastPing = performance.now();
  });
  // Reads in sips, a megabyte and then nothing for a while, but for what the system has taken when the ping leaves. The pause
  // is how slow this peer is, not a wait for something to happen.
  let [read, sips] = [stream.bytesRead, 14];
  stream.on('data', () => {
    if (sips === 0 || stream.bytesRead - read < MIB) return;
    [read, sips] = [stream.bytesRead, sips - 1];
    stream.pause();
    setTimeout(() => stream.resume(), 200);
  });
  expect(await client.json()).toMatchObject({ id: 1, result: {} });
  expect(await client.barrier()).toEqual([]);
  expect(longest).toBeGreaterThan(2000);
});

test('a blocked event loop cuts nobody who answered meanwhile', async () => {
  const gateway = await startGateway({ limits: { pingInterval: '200ms', pongTimeout: '200ms' } });
  const client = await connectRaw(gateway.url, {});
  for (let round = 0; round < 3; round += 1) {
    await once(client.socket, 'ping');
    // The pong is on its way to the gateway, which does not get to read it until it is long overdue.
    block(700);
  }
  await client.initialize();
  expect(await client.barrier()).toEqual([]);
});
