import { describe, expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway, stdioUpstream, type TestGateway } from '../support/gateway.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { APP, askTicket, browserConfig, browserGateway, issuer, ticketOf } from '../support/ticketed-gateway.ts';
import { upgrade } from '../support/upgrade-request.ts';

const gateway = browserGateway();
const METADATA = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';
const REFUSED = [
  401,
  `Bearer error="invalid_token", error_description="The ticket is not valid", ${METADATA}`,
  '{"error":"invalid_ticket"}',
];
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** How an upgrade with this query ends. */
async function spend(query: string, { url }: TestGateway = gateway(), more: Record<string, string> = {}) {
  const { status, headers, body } = await upgrade(url, { path: `/mcp${query}`, headers: more });
  return [status, headers['www-authenticate'], body];
}

test('a token is given for a ticket, and the ticket for a session of the same principal', async () => {
  const answer = await askTicket(gateway(), { token: await issuer.sign() });
  const shown = ['cache-control', 'content-type'].map((name) => answer.headers.get(name));
  expect([answer.status, ...shown]).toEqual([201, 'no-store', 'application/json; charset=utf-8']);
  const body: unknown = await answer.json();
  expect(body).toEqual({ ticket: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/), expiresIn: 30 });
  const client = await openRaw(`${gateway().url}?ticket=${Reflect.get(Object(body), 'ticket')}`);
  expect(await client.ask(PING)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});

test('the session has the roles and the end of the token', async () => {
  const clock = fakeClock();
  const policy = [{ roles: ['admin'], allow: { tools: ['**'] } }];
  const mcpServers = { up: stdioUpstream('plain.mjs') };
  const own = await startGateway(browserConfig({ policy, mcpServers }, { clockTolerance: '1s' }), clock);
  await own.ready();
  const now = Math.floor(clock.now() / 1000);
  const sign = (claims: object) => issuer.sign({ exp: now + 10, ...claims }, { now: clock.now() });
  const granted = async (token: string) => {
    const client = await openRaw(`${own.url}?ticket=${await ticketOf(own, { token })}`);
    return { client, listed: await client.ask({ ...PING, method: 'tools/list' }) };
  };
  const admin = await granted(await sign({ roles: ['admin'] }));
  const guest = await granted(await sign({ roles: ['guest'] }));
  expect([admin.listed, guest.listed]).toMatchObject([{ result: {} }, { error: { code: -32601 } }]);
  clock.advance(11_000);
  expect(await admin.client.closed).toEqual({ code: 4401, reason: 'unauthenticated' });
});

test('a page’s own ticket lets that page in', async () => {
  const ticket = await ticketOf(gateway(), { origin: APP });
  const page = await openRaw(`${gateway().url}?ticket=${ticket}`, { headers: { origin: APP } });
  expect(await page.ask(PING)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});

describe('a ticket is refused, in the same words,', () => {
  test('when it was spent', async () => {
    const ticket = await ticketOf(gateway());
    expect(await spend(`?ticket=${ticket}`)).toEqual([101, undefined, '']);
    expect(await spend(`?ticket=${ticket}`)).toEqual(REFUSED);
  });

  test.each(['x', '', 'A'.repeat(43), `${'A'.repeat(42)}=`, 'A'.repeat(5000)])(
    'when it is none: %.50j',
    async (ticket) => {
      expect(await spend(`?ticket=${ticket}`)).toEqual(REFUSED);
    },
  );

  test('when it comes from another Origin, and is lost by it', async () => {
    const [fromPage, fromNowhere] = [await ticketOf(gateway(), { origin: APP }), await ticketOf(gateway())];
    expect(await spend(`?ticket=${fromPage}`)).toEqual(REFUSED);
    const tooLate = await connectRaw(`${gateway().url}?ticket=${fromPage}`, { headers: { origin: APP } });
    expect(await tooLate.closed).toEqual({ code: 4401, reason: 'unauthenticated' });
    const atPage = await connectRaw(`${gateway().url}?ticket=${fromNowhere}`, { headers: { origin: APP } });
    expect(await atPage.closed).toEqual({ code: 4401, reason: 'unauthenticated' });
    expect(await spend(`?ticket=${fromNowhere}`)).toEqual(REFUSED);
  });

  test('when 30 s are over, and not a moment before', async () => {
    const clock = fakeClock();
    const own = await startGateway(browserConfig(), clock);
    const token = await issuer.sign({}, { now: clock.now() });
    const [early, late] = [await ticketOf(own, { token }), await ticketOf(own, { token })];
    clock.advance(29_999);
    await openRaw(`${own.url}?ticket=${early}`);
    clock.advance(1);
    expect(await spend(`?ticket=${late}`, own)).toEqual(REFUSED);
  });

  test('when its token has expired since', async () => {
    const clock = fakeClock();
    const own = await startGateway(browserConfig({}, { clockTolerance: '1s' }), clock);
    const exp = Math.floor(clock.now() / 1000) + 10;
    const token = await issuer.sign({ exp }, { now: clock.now() });
    const [early, late] = [await ticketOf(own, { token }), await ticketOf(own, { token })];
    clock.advance(10_999);
    await openRaw(`${own.url}?ticket=${early}`);
    clock.advance(1);
    expect(await spend(`?ticket=${late}`, own)).toEqual(REFUSED);
  });
});

test('of many upgrades at once with one ticket exactly one passes', async () => {
  const ticket = await ticketOf(gateway());
  const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await spend(`?ticket=${ticket}`))[0]));
  expect(statuses.sort()).toEqual([101, 401, 401, 401, 401, 401, 401, 401]);
});

test('a ticket beside another way to say who calls is refused 400, and is not spent by it', async () => {
  const [ticket, token] = [await ticketOf(gateway()), await issuer.sign()];
  const CARRIAGE = [400, undefined, '{"error":"token_carriage"}'];
  const query = `?ticket=${ticket}`;
  expect(await spend(query, gateway(), { authorization: `Bearer ${token}` })).toEqual(CARRIAGE);
  expect(await spend(query, gateway(), { 'sec-websocket-protocol': `mcp, mcp.auth.${token}` })).toEqual(CARRIAGE);
  expect(await spend(`${query}&ticket=${ticket}`)).toEqual(CARRIAGE);
  expect(await spend(`${query}&token=${token}`)).toEqual(CARRIAGE);
  expect(await spend(query)).toEqual([101, undefined, '']);
});

test('a ticket is not spent by an upgrade that is refused for less', async () => {
  const query = `?ticket=${await ticketOf(gateway())}`;
  expect((await spend(query, gateway(), { host: 'evil.example' }))[0]).toBe(403);
  expect((await spend(query, gateway(), { origin: 'https://evil.example' }))[0]).toBe(403);
  for (const name of ['sec-websocket-protocol', 'sec-websocket-key', 'sec-websocket-version']) {
    expect((await spend(query, gateway(), { [name]: 'other' }))[0]).toBe(400);
  }
  expect((await spend(query, gateway(), { 'sec-websocket-protocol': 'mcp, mcp' }))[0]).toBe(400);
  expect(await spend(query)).toEqual([101, undefined, '']);
});

test('a ticket is not spent while there are too many sockets', async () => {
  const own = await startGateway(browserConfig({ limits: { connections: 1 } }));
  const [first, second] = [await ticketOf(own), await ticketOf(own)];
  const open = await openRaw(`${own.url}?ticket=${first}`);
  expect((await spend(`?ticket=${second}`, own)).at(-1)).toBe('{"error":"connections"}');
  open.socket.close();
  await open.closed;
  await expect.poll(async () => (await spend(`?ticket=${second}`, own))[0]).toBe(101);
});

test('an anonymous gateway has no tickets, and asks for none', async () => {
  const own = await startGateway({ origins: [APP] });
  for (const method of ['POST', 'OPTIONS', 'GET']) {
    const answer = await askTicket(own, { method, origin: APP });
    expect([answer.status, await answer.text()]).toEqual([404, '{"error":"not_found"}']);
  }
  expect(await spend('?ticket=abc', own)).toEqual([101, undefined, '']);
});

test('what becomes of tickets is counted', async () => {
  const own = await startGateway(browserConfig());
  const count = async (name: string, labels: Record<string, string>) =>
    sampleValue(parseMetrics(await own.metrics()), `mcp_gateway_${name}`, labels);
  const ticket = await ticketOf(own);
  await askTicket(own);
  await spend(`?ticket=${ticket}`, own);
  await spend(`?ticket=${ticket}`, own);
  expect(await count('tickets_total', { outcome: 'issued' })).toBe(1);
  expect(await count('tickets_total', { outcome: 'refused' })).toBe(1);
  // The token once, the ticket once.
  expect(await count('auth_total', { issuer: issuer.issuer, outcome: 'accepted', reason: '' })).toBe(2);
  expect(await count('auth_total', { issuer: 'none', outcome: 'refused', reason: 'ticket' })).toBe(1);
  expect(await count('connections_refused_total', { reason: 'invalid_ticket' })).toBe(1);
  const events = own.log.filter(({ event }) => event === 'ticket_refused').map(({ fields }) => fields);
  expect(events).toEqual([{ request: expect.any(String), address: '127.0.0.1', reason: 'no_token' }]);
});
