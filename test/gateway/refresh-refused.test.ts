import { describe, expect, onTestFinished, test } from 'vitest';
import { authority, certifiedGateway } from '../support/certified-gateway.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway } from '../support/gateway.ts';
import { type KeyServer, startKeyServer } from '../support/key-server.ts';
import { cancellation, errorAnswer } from '../support/messages.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { refresh, secondsAfter, TOKEN_EXTENSION, tokenGateway } from '../support/token-gateway.ts';
import { makeIssuer, makeKey, secretKey } from '../support/tokens.ts';

const EXPIRED = { code: 4401, reason: 'unauthenticated' };
const REFUSED = '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"The token was refused"}}';
const rateLimited = (id: number, retryAfterMs: number) =>
  errorAnswer(id, -32603, 'Too many requests', { reason: 'rate_limited', retryable: true, retryAfterMs });
const other = await makeIssuer({ issuer: 'https://other.example.com/' });

async function twoIssuers() {
  const { issuer, secret } = await makeIssuer();
  const keys = { secret };
  const auth = {
    requiredScopes: ['mcp'],
    issuers: [
      { issuer, keys },
      { issuer: other.issuer, keys },
    ],
  };
  const gateway = await tokenGateway({ auth });
  const client = await gateway.open(300, { scope: 'mcp' });
  return { ...gateway, client };
}

describe('a token is refused in one and the same words, and the session is as it was', () => {
  type Gateway = Awaited<ReturnType<typeof twoIssuers>>;
  const idp = 'https://idp.example.com/';
  test.each<[reason: string, issuer: string, made: (gateway: Gateway) => Promise<string>]>([
    ['other_principal', idp, ({ token }) => token(600, { scope: 'mcp', sub: 'bob' })],
    [
      'other_principal',
      'https://other.example.com/',
      ({ clock }) => other.sign({ scope: 'mcp' }, { now: clock.now() }),
    ],
    ['insufficient_scope', idp, ({ token }) => token(600, { scope: 'other' })],
    ['expired', idp, ({ token }) => token(-1, { scope: 'mcp' })],
    ['wrong_audience', idp, ({ token }) => token(600, { scope: 'mcp', aud: 'https://elsewhere.example/' })],
    [
      'bad_signature',
      idp,
      ({ issuer, clock }) =>
        issuer.sign({ scope: 'mcp' }, { now: clock.now(), key: secretKey('another secret of 32 bytes or more') }),
    ],
    ['malformed', 'none', async () => 'no token'],
  ])('%s, counted under %s', async (reason, issuer, made) => {
    const gateway = await twoIssuers();
    const { client, clock, log, metrics } = gateway;
    const token = await made(gateway);
    client.send(refresh(1, token));
    expect(await client.next()).toBe(REFUSED);
    expect(log.filter(({ event }) => event === 'token_not_renewed')).toMatchObject([
      { fields: { reason, id: 'alice' } },
    ]);
    expect(JSON.stringify(log)).not.toContain(token);
    expect(await metrics()).toContain(
      `mcp_gateway_auth_total{issuer="${issuer}",outcome="refused",reason="${reason}"} 1`,
    );
    clock.advance(299_999);
    expect(await client.barrier()).toEqual([]);
    clock.advance(1);
    expect(await client.closed).toEqual(EXPIRED);
  });
});

test('a second within 30 s is refused unjudged, also after one that was refused; wrong params do not count', async () => {
  const { client, clock, token, metrics } = await twoIssuers();
  const wrong = errorAnswer(1, -32602, 'Invalid params: "token" must be a string');
  expect(await client.ask(refresh(1, 7))).toEqual(wrong);
  expect(await client.ask({ jsonrpc: '2.0', id: 1, method: 'ws-gateway/refreshToken' })).toEqual(wrong);
  expect(await client.ask(refresh(2, 'no token'))).toMatchObject({ id: 2, error: { code: -32602 } });
  const good = await token(600, { scope: 'mcp' });
  expect(await client.ask(refresh(3, good))).toEqual(rateLimited(3, 30_000));
  clock.advance(29_000);
  expect(await client.ask(refresh(4, good))).toEqual(rateLimited(4, 1000));
  expect(await metrics()).toContain(
    'mcp_gateway_auth_total{issuer="https://idp.example.com/",outcome="accepted",reason=""} 1',
  );
  clock.advance(1000);
  expect(await client.ask(refresh(5, good))).toMatchObject({ id: 5, result: { expiresAt: secondsAfter(600) } });
});

describe('it is no method', () => {
  const NONE = errorAnswer(1, -32601, 'Method not found');

  test('in anonymous mode, in either era', async () => {
    const gateway = await startGateway({ mcpServers: {} });
    const client = await openRaw(gateway.url);
    expect(await client.ask(refresh(1, 'x'))).toEqual(NONE);
    const modern = await connectRaw(gateway.url);
    expect(await modern.ask(modernRequest(1, 'ws-gateway/refreshToken', { token: 'x' }))).toEqual(NONE);
  });

  test('for who came by a certificate, to whom the extension is not announced, and who is not told of its end', async () => {
    const clock = fakeClock(Date.now());
    const { socket } = await certifiedGateway({ clock, config: { limits: { pingInterval: '20d' } } });
    const client = await socket(authority.issue({ dns: ['robot.example.com'], notAfter: Date.now() + 600_000 }));
    const answer = await client.initialize('2025-11-25', TOKEN_EXTENSION);
    expect(answer).not.toHaveProperty('result.capabilities.extensions');
    expect(await client.ask(refresh(1, 'x'))).toEqual(NONE);
    clock.advance(595_000);
    expect(await client.barrier()).toEqual([]);
  });

  test('that an upstream could serve', async () => {
    const entry = { command: 'x', methods: ['ws-gateway/*'] };
    await expect(startGateway({ mcpServers: { up: entry } })).rejects.toThrow(/methods/);
    await expect(startGateway({ mcpServers: { up: { ...entry, methods: ['*/refreshToken'] } } })).rejects.toThrow(
      /methods/,
    );
  });
});

test('before initialize it is refused as any other request', async () => {
  const { connect, token } = await tokenGateway();
  const client = await connect(300);
  expect(await client.ask(refresh(1, await token(600)))).toEqual(errorAnswer(1, -32600, 'Send initialize first'));
});

describe('while the keys are being asked for', () => {
  async function rotating() {
    const [first, second] = [await makeKey('ES256', 'key-1'), await makeKey('ES256', 'key-2')];
    const keys: KeyServer = await startKeyServer(first.jwk === undefined ? [] : [first.jwk]);
    onTestFinished(() => keys.close());
    const issuer = await makeIssuer({ key: first });
    const auth = {
      issuers: [{ issuer: issuer.issuer, keys: { jwksUri: keys.jwksUri, timeout: '20s' } }],
      expiryGrace: '10s',
    };
    const gateway = await tokenGateway({ auth });
    const sign = (seconds: number, key = second) =>
      issuer.sign({ exp: Math.floor(gateway.clock.now() / 1000) + seconds }, { now: gateway.clock.now(), key });
    const authorization = `Bearer ${await sign(40, first)}`;
    const client = await openRaw(gateway.url, { headers: { authorization } });
    gateway.clock.advance(30_000);
    keys.rotate(second.jwk === undefined ? [] : [second.jwk]);
    return { ...gateway, keys, sign, client };
  }

  test('other frames go on, and the session with the fresh token', async () => {
    const { client, keys, sign, clock } = await rotating();
    keys.stall();
    client.send(refresh(1, await sign(300)));
    expect(await client.barrier()).toEqual([]);
    keys.release();
    expect(await client.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { expiresAt: secondsAfter(330) } });
    clock.advance(299_999);
    expect(await client.barrier()).toEqual([]);
  });

  test('the old token’s end counts: requests are refused, and a token that is good in the grace ends that', async () => {
    const { client, keys, sign, clock } = await rotating();
    keys.stall();
    client.send(refresh(1, await sign(300)));
    await expect.poll(keys.fetches).toBe(2);
    clock.advance(10_000);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect(await client.ask(list)).toEqual(errorAnswer(2, -32600, 'The token has expired'));
    keys.release();
    expect(await client.json()).toMatchObject({ id: 1, result: { expiresAt: secondsAfter(330) } });
    clock.advance(10_000);
    expect(await client.barrier()).toEqual([]);
  });

  test('one that is not good by the end of the grace comes too late', async () => {
    const { client, keys, sign, clock } = await rotating();
    keys.stall();
    client.send(refresh(1, await sign(300)));
    await expect.poll(keys.fetches).toBe(2);
    clock.advance(19_999);
    expect(await client.ask(refresh(2, 'x'))).toEqual(errorAnswer(2, -32600, 'The token has expired'));
    clock.advance(1);
    expect(await client.json()).toHaveProperty('error.data.reason', 'timeout');
    expect(await client.closed).toEqual(EXPIRED);
    keys.release();
  });

  const JUDGED = 'mcp_gateway_auth_total{issuer="https://idp.example.com/",outcome="accepted",reason=""} 2';

  test('cancelled it has no answer, and the old token stays', async () => {
    const { client, keys, sign, clock, metrics } = await rotating();
    keys.stall();
    client.send(refresh(1, await sign(300)));
    await expect.poll(keys.fetches).toBe(2);
    client.send(cancellation(1));
    expect(await client.barrier()).toEqual([]);
    keys.release();
    await expect.poll(metrics).toContain(JUDGED);
    expect(await client.barrier()).toEqual([]);
    clock.advance(10_000);
    expect(await client.closed).toEqual(EXPIRED);
  });

  test('a socket that closes meanwhile leaves nothing behind', async () => {
    const { client, keys, sign, metrics, log } = await rotating();
    keys.stall();
    client.send(refresh(1, await sign(300)));
    await expect.poll(keys.fetches).toBe(2);
    client.socket.close();
    await client.closed;
    await expect.poll(metrics).toContain('mcp_gateway_connections 0');
    keys.release();
    await expect.poll(metrics).toContain(JUDGED);
    expect(log.filter(({ event }) => event.startsWith('token_') || event === 'session_failed')).toEqual([]);
  });

  test('keys that cannot be had are no fault of the token: the client may try again', async () => {
    const { client, keys, sign, clock } = await rotating();
    keys.fail(500);
    expect(await client.ask(refresh(1, await sign(300)))).toEqual(
      errorAnswer(1, -32603, 'The upstream cannot be reached', {
        reason: 'upstream_unavailable',
        retryable: true,
        retryAfterMs: 30_000,
      }),
    );
    expect(await client.barrier()).toEqual([]);
    clock.advance(10_000);
    expect(await client.closed).toEqual(EXPIRED);
  });
});

test('in the modern era the refusal is the same', async () => {
  const { connect } = await tokenGateway();
  const client = await connect(300);
  client.send(modernRequest(1, 'ws-gateway/refreshToken', { token: 'no token' }));
  expect(await client.next()).toBe(REFUSED);
});
