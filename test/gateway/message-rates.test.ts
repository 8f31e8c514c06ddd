import { describe, expect, test } from 'vitest';
import { toolCall } from '../support/messages.ts';
import { limited, ping, pong, ratedGateway } from '../support/rated-gateway.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { makeIssuer } from '../support/tokens.ts';

const rated = (rate: number, burst: number, more: object = {}) =>
  ratedGateway({ requestsPerSecond: { rate, burst } }, { ...more });

describe('a request over the rate', () => {
  test('is told the real wait and reaches no upstream; the socket stays, and after the wait it passes', async () => {
    const { clock, gateway, heard, metric } = await rated(2, 5);
    const client = await openRaw(gateway.url);
    // initialize 1, initialized 0.2
    for (const id of [1, 2, 3]) expect(await client.ask(ping(id))).toEqual(pong(id));
    expect(await client.ask(toolCall(4, 'up__act'))).toEqual(limited(4, 100));
    clock.advance(99);
    expect(await client.ask(toolCall(5, 'up__act'))).toEqual(limited(5, 1));
    expect(heard()).not.toContain('tools/call');
    clock.advance(1);
    expect(await client.ask(toolCall(6, 'up__act'))).toEqual({ jsonrpc: '2.0', id: 6, result: { content: [] } });
    expect(await metric('messages_refused_total', { kind: 'request' })).toBe(2);
  });

  test('may be any, ping and initialize too', async () => {
    const { clock, gateway } = await rated(1, 1);
    const client = await connectRaw(gateway.url);
    expect(await client.ask(ping(1))).toEqual(pong(1));
    expect(await client.ask(ping(2))).toEqual(limited(2, 1000));
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
    const initialize = { jsonrpc: '2.0', id: 'init', method: 'initialize', params };
    expect(await client.ask(initialize)).toEqual(limited('init', 1000));
    clock.advance(1000);
    expect(await client.ask(initialize)).toMatchObject({ id: 'init', result: {} });
  });

  test('comes after 200 at once and 100 a second, where nothing else is said', async () => {
    const { clock, gateway } = await ratedGateway({});
    const client = await openRaw(gateway.url);
    for (let id = 1; id <= 199; id += 1) client.send(ping(id));
    for (let id = 1; id <= 198; id += 1) expect(await client.json()).toEqual(pong(id));
    expect(await client.json()).toEqual(limited(199, 2));
    clock.advance(1000);
    for (let id = 200; id <= 300; id += 1) client.send(ping(id));
    for (let id = 200; id <= 299; id += 1) expect(await client.json()).toEqual(pong(id));
    expect(await client.json()).toMatchObject({ id: 300, error: { data: { reason: 'rate_limited' } } });
  });

  test('does not exist where the rate is null', async () => {
    const { gateway } = await ratedGateway({ requestsPerSecond: null });
    const client = await openRaw(gateway.url);
    for (let id = 1; id <= 1000; id += 1) client.send(ping(id));
    for (let id = 1; id <= 1000; id += 1) expect(await client.json()).toEqual(pong(id));
  });
});

describe('a bucket', () => {
  test('is one for all sockets of a principal, also for those it opens anew, and nobody else’s', async () => {
    const issuer = await makeIssuer();
    const { issuer: name, audience, secret } = issuer;
    const auth = { mode: 'jwt', resource: audience, issuers: [{ issuer: name, keys: { secret } }] };
    const { clock, gateway, metric } = await rated(1, 10, { auth, policy: [] });
    const as = async (sub: string) => {
      const token = await issuer.sign({ sub }, { now: clock.now() });
      return connectRaw(gateway.url, { headers: { authorization: `Bearer ${token}` } });
    };
    const [alice, again, bob] = [await as('alice'), await as('alice'), await as('bob')];
    for (const id of [1, 2, 3, 4, 5]) for (const client of [alice, again]) await client.ask(ping(id));
    expect(await alice.ask(ping(6))).toEqual(limited(6, 1000));
    expect(await again.ask(ping(6))).toEqual(limited(6, 1000));
    expect(await bob.ask(ping(6))).toEqual(pong(6));
    for (const client of [alice, again]) client.socket.terminate();
    await expect.poll(() => metric('connections')).toBe(1);
    expect(await (await as('alice')).ask(ping(7))).toEqual(limited(7, 1000));
  });

  test('of an anonymous caller is its socket’s own', async () => {
    const { gateway } = await rated(1, 1);
    const [one, other] = [await connectRaw(gateway.url), await connectRaw(gateway.url)];
    await one.ask(ping(1));
    expect(await one.ask(ping(2))).toEqual(limited(2, 1000));
    expect(await other.ask(ping(1))).toEqual(pong(1));
  });
});
