import { describe, expect, onTestFinished, test } from 'vitest';
import { fileWith } from '../support/config-fixtures.ts';
import { fileGateway } from '../support/file-gateway.ts';
import { startGateway } from '../support/gateway.ts';
import { startKeyServer } from '../support/key-server.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { makeIssuer, makeKey, secretKey, unsignedToken } from '../support/tokens.ts';
import { type UpgradeAnswer, upgrade } from '../support/upgrade-request.ts';

const issuer = await makeIssuer();
const gateway = fileGateway({
  auth: {
    mode: 'jwt',
    resource: 'https://mcp.example.com/mcp',
    requiredScopes: ['mcp:use'],
    issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
  },
  policy: 'allow-authenticated',
});
const METADATA =
  'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="mcp:use"';
const now = Math.floor(Date.now() / 1000);
const claims = { iss: issuer.issuer, aud: issuer.audience, sub: 'alice', scope: 'mcp:use', exp: now + 60 };
const good = { scope: 'mcp:use' };
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const facts = ({ status, headers, body }: UpgradeAnswer) => [status, headers['www-authenticate'], body];

/** How an upgrade with this token ends; the token must stand in no line of the log. */
async function refusal(token: string) {
  const answer = await upgrade(gateway().url, bearer(token));
  expect(JSON.stringify(gateway().log)).not.toContain(token);
  return facts(answer);
}

test('a good token passes in the header and in the subprotocol, and is echoed nowhere', async () => {
  const token = await issuer.sign(good);
  const client = await openRaw(gateway().url, bearer(token));
  expect(client.socket.protocol).toBe('mcp');
  const browser = await openRaw(gateway().url, { protocols: ['mcp', `mcp.auth.${token}`] });
  expect(browser.socket.protocol).toBe('mcp');
  expect(JSON.stringify(gateway().log)).not.toContain(token);
});

test('no token: 401 and where to get one', async () => {
  const answer = await upgrade(gateway().url);
  expect(facts(answer)).toEqual([401, `Bearer ${METADATA}`, '{"error":"no_token"}']);
});

describe('a token is refused 401, with a fixed text, when', () => {
  const day = 86_400;
  test.each([
    ['it is expired', () => issuer.sign({ ...good, exp: now - 60 }), 'The token has expired'],
    ['another issuer made it', () => issuer.sign({ ...good, iss: 'x' }), 'The issuer of the token is not accepted'],
    [
      'it is for another audience',
      () => issuer.sign({ ...good, aud: 'x' }),
      'The token is not meant for this resource',
    ],
    ['it has no expiry', () => issuer.sign({ ...good, exp: undefined }), 'The token has no expiry'],
    ['it lives too long', () => issuer.sign({ ...good, exp: now + day + 120 }), 'The life of the token is too long'],
    ['it is not valid yet', () => issuer.sign({ ...good, nbf: now + 90 }), 'The token is not valid yet'],
    ['it names nobody', () => issuer.sign({ ...good, sub: undefined }), 'The token names no subject'],
    [
      'another secret signed it',
      () => issuer.sign(good, { key: secretKey('another-secret-of-at-least-32-bytes') }),
      'The signature of the token is not valid',
    ],
    [
      'it is signed by another algorithm',
      async () => issuer.sign(good, { key: await makeKey('ES256') }),
      'The algorithm of the token is not accepted',
    ],
    ['it is not signed', async () => unsignedToken(claims), 'The algorithm of the token is not accepted'],
    ['it is no JWT', async () => 'xyz', 'The token is not a signed JWT'],
  ])('%s', async (_when, make, description) => {
    expect(await refusal(await make())).toEqual([
      401,
      `Bearer error="invalid_token", error_description="${description}", ${METADATA}`,
      '{"error":"invalid_token"}',
    ]);
  });
});

test('a good token without the scope is refused 403', async () => {
  expect(await refusal(await issuer.sign({ scope: 'other' }))).toEqual([
    403,
    `Bearer error="insufficient_scope", error_description="The token lacks a required scope", ${METADATA}`,
    '{"error":"insufficient_scope"}',
  ]);
});

describe('a token is refused 400 when it comes', () => {
  test.each(['token', 'access_token', 'jwt', 'Token', '%74oken'])('in the query as %s', async (name) => {
    const token = await issuer.sign(good);
    const answer = await upgrade(gateway().url, { path: `/mcp?${name}=${token}` });
    expect(facts(answer)).toEqual([400, undefined, '{"error":"token_carriage"}']);
    expect(JSON.stringify(gateway().log)).not.toContain(token);
  });

  test('twice', async () => {
    const token = await issuer.sign(good);
    const both = { authorization: `Bearer ${token}`, 'sec-websocket-protocol': `mcp, mcp.auth.${token}` };
    expect((await upgrade(gateway().url, { headers: both })).status).toBe(400);
    const two = { authorization: [`Bearer ${token}`, `Bearer ${token}`] };
    expect((await upgrade(gateway().url, { headers: two })).status).toBe(400);
    const offers = { 'sec-websocket-protocol': `mcp, mcp.auth.${token}, mcp.auth.${token}` };
    expect((await upgrade(gateway().url, { headers: offers })).status).toBe(400);
  });
});

test('the Host of auth.resource passes, and a forwarded upgrade too', async () => {
  const token = await issuer.sign(good);
  const headers = { ...bearer(token).headers, host: 'mcp.example.com', 'x-forwarded-for': '1.2.3.4', via: '1.1 p' };
  expect((await upgrade(gateway().url, { headers })).status).toBe(101);
});

test.each(['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])(
  'the resource is described at %s',
  async (path) => {
    const answer = await fetch(new URL(path, gateway().url.replace('ws:', 'http:')));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(await answer.json()).toEqual({
      resource: 'https://mcp.example.com/mcp',
      authorization_servers: ['https://idp.example.com/'],
      scopes_supported: ['mcp:use'],
      bearer_methods_supported: ['header'],
    });
  },
);

test('keys from a file: a token of one of them passes, of another not', async () => {
  const own = await makeIssuer({ alg: 'ES256' });
  const { issuer: name, audience } = own;
  const jwksFile = fileWith('keys.json', JSON.stringify(own.jwks));
  const { url } = await startGateway({
    auth: { mode: 'jwt', resource: audience, issuers: [{ issuer: name, keys: { jwksFile } }] },
    policy: [],
  });
  await connectRaw(url, bearer(await own.sign()));
  expect((await upgrade(url, bearer(await own.sign({}, { key: await makeKey('ES256') })))).status).toBe(401);
  expect((await upgrade(url, bearer(await issuer.sign()))).status).toBe(401);
});

test('one verification too many at once is refused 503', async () => {
  const server = await startKeyServer();
  onTestFinished(() => server.close());
  const own = await makeIssuer({ alg: 'ES256' });
  server.rotate(own.jwks.keys);
  server.stall();
  const { jwksUri } = server;
  const { url } = await startGateway({
    auth: { mode: 'jwt', resource: own.audience, issuers: [{ issuer: own.issuer, keys: { jwksUri } }] },
    policy: [],
    limits: { handshakes: { pending: 1 } },
  });
  const token = await own.sign();
  const first = upgrade(url, bearer(token));
  await expect.poll(() => server.fetches()).toBe(1);
  const second = await upgrade(url, bearer(token));
  expect([second.status, second.headers['retry-after'], second.body]).toEqual([503, '1', '{"error":"pending"}']);
  server.release();
  expect((await first).status).toBe(101);
});

test('a key server that cannot be reached is 503 and no fault of the token', async () => {
  const server = await startKeyServer();
  const { jwksUri } = server;
  await server.close();
  const own = await makeIssuer({ alg: 'ES256' });
  const gone = await startGateway({
    auth: { mode: 'jwt', resource: own.audience, issuers: [{ issuer: own.issuer, keys: { jwksUri } }] },
    policy: [],
  });
  const token = await own.sign();
  const { status, headers, body } = await upgrade(gone.url, bearer(token));
  expect([status, headers['retry-after'], headers['www-authenticate'], body]).toEqual([
    503,
    '1',
    undefined,
    '{"error":"keys_unavailable"}',
  ]);
  expect(JSON.stringify(gone.log)).not.toContain(token);
});

test('the metadata document is nobody’s way in: an upgrade of its path is no route', async () => {
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
    const answer = await upgrade(gateway().url, { path });
    expect([answer.status, answer.body]).toEqual([404, '{"error":"not_found"}']);
  }
});
