import { expect, onTestFinished, test } from 'vitest';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { connectedTo, leasesOver, nameOf } from '../support/redis-parts.ts';
import { redisServer } from '../support/redis-server.ts';

import { APP, issuer, ticketOf } from '../support/ticketed-gateway.ts';
import { PREFIX, ticketedReplicas } from '../support/ticketed-replicas.ts';
import { upgrade } from '../support/upgrade-request.ts';

const LIMITS = { limits: { connectionsPerPrincipal: 2 } };
/** As a principal is called where what is its own is kept. */
const ALICE = JSON.stringify([issuer.issuer, 'alice']);
const FULL = [429, '5', '{"error":"connections_per_principal"}'];

async function setting() {
  const server = await redisServer();
  const [one, other] = await ticketedReplicas(server.url, LIMITS);
  const token = await issuer.sign();
  const headers = { authorization: `Bearer ${token}` };
  const open = (gateway: { readonly url: string }) => openRaw(gateway.url, { headers });
  const refusal = async (gateway: { readonly url: string }) => {
    const { status, headers: told, body } = await upgrade(gateway.url, { headers });
    return [status, told['retry-after'], body];
  };
  return { server, one, other, open, refusal };
}

test('the sockets of a principal are limited over both gateways, and others are let in', async () => {
  const { one, other, open, refusal } = await setting();
  await open(one);
  await open(other);
  expect([await refusal(one), await refusal(other)]).toEqual([FULL, FULL]);
  const bob = { headers: { authorization: `Bearer ${await issuer.sign({ sub: 'bob' })}` } };
  await openRaw(one.url, bob);
  await openRaw(one.url, bob);
  expect((await upgrade(other.url, bob)).status).toBe(429);
});

test('a page is told so by a close', async () => {
  const { one, other, open } = await setting();
  await open(one);
  await open(one);
  const ticket = await ticketOf(other, { origin: APP });
  const page = await connectRaw(`${other.url}?ticket=${ticket}`, { headers: { origin: APP } });
  expect(await page.closed).toEqual({ code: 4429, reason: 'too_many retry=5000' });
});

test('of many that come to both at once as many get in as may', async () => {
  const { one, other, refusal } = await setting();
  const tries = Array.from({ length: 10 }, (_, at) => refusal(at % 2 === 0 ? one : other));
  const statuses = (await Promise.all(tries)).map(([status]) => status);
  expect(statuses.sort()).toEqual([101, 101, ...Array.from({ length: 8 }, () => 429)]);
});

test('a socket that closes at one makes room at the other', async () => {
  const { one, other, open, refusal } = await setting();
  const [first] = [await open(one), await open(one)];
  expect(await refusal(other)).toEqual(FULL);
  first.socket.close();
  await expect.poll(async () => (await refusal(other))[0]).toBe(101);
  expect(await refusal(other)).toEqual(FULL);
});

test('a gateway that stops gives its places back', async () => {
  const { one, other, open, refusal } = await setting();
  await open(one);
  await open(one);
  expect(await refusal(other)).toEqual(FULL);
  await one.close();
  expect((await refusal(other))[0]).toBe(101);
});

test('what a replica held that was killed is over when nobody renews it', async () => {
  const { server, other, refusal } = await setting();
  const redis = await connectedTo(server.url);
  onTestFinished(() => redis.close());
  const { leases, die } = leasesOver(redis, { prefix: PREFIX, limit: 2, life: 1000 });
  expect(await leases.claim(ALICE, 2)).toBe(true);
  expect(await refusal(other)).toEqual(FULL);
  die();
  await expect.poll(async () => (await refusal(other))[0], { timeout: 5000 }).toBe(101);
});

test('while Redis is down each gateway has its own limit, and when it is back what is open counts', async () => {
  const { server, one, other, open, refusal } = await setting();
  await open(one);
  await server.stop();
  await open(one);
  expect(await refusal(one)).toEqual(FULL);
  await open(other);
  await server.start();
  // Each has told how many it has.
  const told = () => server.command('HLEN', `{${PREFIX}}:connections:${nameOf(ALICE)}`);
  await expect.poll(told, { timeout: 15_000 }).toBe(2);
  expect(await refusal(other)).toEqual(FULL);
});
