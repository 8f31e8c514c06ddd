import { expect, test } from 'vitest';
import { certifiedGateway, PING, PONG, pinned, trusting } from '../support/certified-gateway.ts';
import { SHARED_KEY } from '../support/redis-parts.ts';
import { redisServer } from '../support/redis-server.ts';
import { connectTcp } from '../support/tcp-client.ts';

async function setting() {
  const server = await redisServer();
  const config = {
    bus: { redis: server.url },
    seal: { keys: [SHARED_KEY] },
    limits: { connectionsPerPrincipal: 1 },
  };
  const [one, other] = [await certifiedGateway({ config }), await certifiedGateway({ config })];
  const lines = (gateway: typeof one) => connectTcp(gateway.gateway.tcp, trusting(pinned));
  return { server, one, other, lines };
}

test('connections of the TCP listener count with those of the other gateway, and make room when they end', async () => {
  const { one, other, lines } = await setting();
  const first = await lines(one);
  await first.initialize();
  expect(await (await lines(other)).rest()).toEqual([]);
  await expect(other.socket(pinned)).rejects.toThrow('HTTP 429');
  expect(await other.gateway.metrics()).toContain('connections_refused_total{reason="connections_per_principal"} 2\n');
  first.socket.destroy();
  const ask = async () => (await lines(other)).ask(PING).catch(() => undefined);
  await expect.poll(ask, { timeout: 5000 }).toEqual(PONG);
});

test('what a client writes while Redis says nothing is read once its place is settled', async () => {
  const { server, one, lines } = await setting();
  server.freeze();
  const client = await lines(one);
  expect(await client.ask(PING)).toEqual(PONG);
  server.thaw();
});

test('a client that goes while Redis says nothing leaves nothing behind', async () => {
  const { server, one, other, lines } = await setting();
  server.freeze();
  const client = await lines(one);
  client.socket.destroy();
  server.thaw();
  const ask = async () => (await lines(other)).ask(PING).catch(() => undefined);
  await expect.poll(ask, { timeout: 5000 }).toEqual(PONG);
  expect(await one.gateway.metrics()).not.toMatch(/connections_refused_total\{reason="[a-z_]+"\} [1-9]/);
});
