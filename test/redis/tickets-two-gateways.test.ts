import { expect, test } from 'vitest';
import { connectRaw } from '../support/raw-client.ts';
import { redisServer } from '../support/redis-server.ts';

import { APP, askTicket, issuer, ticketOf } from '../support/ticketed-gateway.ts';
import { ticketedReplicas } from '../support/ticketed-replicas.ts';
import { upgrade } from '../support/upgrade-request.ts';

const REFUSED = [401, undefined, '{"error":"invalid_ticket"}'];
const UNAVAILABLE = [503, '5', '{"error":"tickets"}'];

async function spend({ url }: { readonly url: string }, ticket: string) {
  const { status, headers, body } = await upgrade(url, { path: `/mcp?ticket=${ticket}` });
  return [status, headers['retry-after'], body];
}

async function ask(gateway: { readonly url: string }, token: string) {
  const answer = await askTicket(gateway, { token });
  return [answer.status, answer.headers.get('retry-after'), await answer.text()];
}

test('a ticket of one gateway is spent at the other, once over both', async () => {
  const [one, other] = await ticketedReplicas((await redisServer()).url);
  const ticket = await ticketOf(one);
  expect(await spend(other, ticket)).toEqual([101, undefined, '']);
  expect([await spend(other, ticket), await spend(one, ticket)]).toEqual([REFUSED, REFUSED]);
});

test('of many upgrades at once at both with one ticket exactly one passes', async () => {
  const [one, other] = await ticketedReplicas((await redisServer()).url);
  const ticket = await ticketOf(one);
  const tries = Array.from({ length: 10 }, (_, at) => spend(at % 2 === 0 ? one : other, ticket));
  const statuses = (await Promise.all(tries)).map(([status]) => status);
  expect(statuses.sort()).toEqual([101, ...Array.from({ length: 9 }, () => 401)]);
});

test('a principal has 20 unspent tickets over both', async () => {
  const [one, other] = await ticketedReplicas((await redisServer()).url);
  const token = await issuer.sign();
  const tickets = await Promise.all(
    Array.from({ length: 20 }, (_, at) => ticketOf(at % 2 === 0 ? one : other, { token })),
  );
  const refused = [429, '30', '{"error":"tickets_per_principal"}'];
  expect([await ask(one, token), await ask(other, token)]).toEqual([refused, refused]);
  expect((await spend(one, tickets[1] ?? ''))[0]).toBe(101);
  await ticketOf(other, { token });
});

test('while Redis is down tickets are neither given nor taken, all else is served, and it goes on when Redis is back', async () => {
  const server = await redisServer();
  const [one, other] = await ticketedReplicas(server.url);
  const [token, ticket, early] = [await issuer.sign(), await ticketOf(one), await ticketOf(one)];
  await server.stop();
  expect([await ask(one, token), await ask(other, token)]).toEqual([UNAVAILABLE, UNAVAILABLE]);
  expect([await spend(one, ticket), await spend(other, ticket)]).toEqual([UNAVAILABLE, UNAVAILABLE]);
  const page = await connectRaw(`${other.url}?ticket=${ticket}`, { headers: { origin: APP } });
  expect(await page.closed).toEqual({ code: 1013, reason: 'overloaded retry=5000' });
  expect((await upgrade(one.url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(101);
  const counted = await one.metrics();
  expect(counted).toContain('mcp_gateway_connections_refused_total{reason="tickets"} 1');
  expect(counted).toContain('mcp_gateway_auth_total{issuer="none",outcome="unavailable",reason=""} 1');
  await server.start();
  await expect.poll(async () => (await ask(one, token))[0], { timeout: 15_000 }).toBe(201);
  // What Redis lost is spent for ever.
  expect(await spend(one, early)).toEqual(REFUSED);
  const fresh = await ticketOf(one);
  await expect.poll(async () => (await spend(other, fresh))[0], { timeout: 15_000 }).toBe(101);
});

test('a Redis that says nothing keeps a ticket for no longer than a command may take', async () => {
  const server = await redisServer();
  const [one] = await ticketedReplicas(server.url);
  const [token, ticket] = [await issuer.sign(), await ticketOf(one)];
  server.freeze();
  const startedAt = Date.now();
  expect(await Promise.all([ask(one, token), spend(one, ticket)])).toEqual([UNAVAILABLE, UNAVAILABLE]);
  expect(Date.now() - startedAt).toBeLessThan(2500);
  server.thaw();
});
