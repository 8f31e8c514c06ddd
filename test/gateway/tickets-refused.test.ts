import { describe, expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startKeyServer } from '../support/key-server.ts';
import { askTicket, browserConfig, browserGateway, issuer, ticketOf } from '../support/ticketed-gateway.ts';
import { makeIssuer } from '../support/tokens.ts';
import { upgrade } from '../support/upgrade-request.ts';

const gateway = browserGateway();
const METADATA = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';

describe('a request for a ticket is refused', () => {
  const asked = async (request: Parameters<typeof askTicket>[1], own: TestGateway = gateway()) => {
    const answer = await askTicket(own, request);
    const shown = ['www-authenticate', 'retry-after', 'cache-control'].map((name) => answer.headers.get(name));
    return [answer.status, ...shown, await answer.text()];
  };

  test('without a token, with a wrong one and without the scopes', async () => {
    expect(await asked({})).toEqual([401, `Bearer ${METADATA}`, null, 'no-store', '{"error":"no_token"}']);
    const wrong = 'Bearer error="invalid_token", error_description="The token is not a signed JWT"';
    expect(await asked({ token: 'abc' })).toEqual([
      401,
      `${wrong}, ${METADATA}`,
      null,
      'no-store',
      '{"error":"invalid_token"}',
    ]);
    const strict = await startGateway(browserConfig({}, { requiredScopes: ['mcp:use'] }));
    expect((await asked({ token: await issuer.sign() }, strict)).at(-1)).toBe('{"error":"insufficient_scope"}');
  });

  test.each(['?token=', '?ticket=', '?access_token='])('with something in the query: %s', async (name) => {
    const query = `${name}${await issuer.sign()}`;
    expect(await asked({ query })).toEqual([400, null, null, 'no-store', '{"error":"token_carriage"}']);
  });

  test('with a body, however small, unread', async () => {
    const token = await issuer.sign();
    const refused = [413, null, null, 'no-store', '{"error":"body"}'];
    expect(await asked({ token, body: 'x' })).toEqual(refused);
    expect(await asked({ token, body: '{}', headers: { 'content-type': 'application/json' } })).toEqual(refused);
    expect(gateway().log.map(({ event }) => event)).not.toContain('upgrade_failed');
  });

  test('for a Host or an Origin that is not listed', async () => {
    const token = await issuer.sign();
    expect((await asked({ token, origin: 'https://evil.example' })).at(-1)).toBe('{"error":"origin"}');
    expect((await asked({ token, origin: 'null' })).at(-1)).toBe('{"error":"origin"}');
    const { port } = new URL(gateway().url);
    const elsewhere = await upgrade(`http://127.0.0.1:${port}/mcp/tickets`, {
      method: 'POST',
      headers: { host: 'evil.example', upgrade: undefined, connection: 'close', authorization: `Bearer ${token}` },
    });
    expect([elsewhere.status, elsewhere.body]).toEqual([403, '{"error":"host"}']);
  });

  test('of one who has 20 unspent, until one of them is spent', async () => {
    const own = await startGateway(browserConfig());
    const token = await issuer.sign();
    const [first = ''] = await Promise.all(Array.from({ length: 20 }, () => ticketOf(own, { token })));
    expect(await asked({ token }, own)).toEqual([429, null, '30', 'no-store', '{"error":"tickets_per_principal"}']);
    await ticketOf(own, { token: await issuer.sign({ sub: 'bob' }) });
    expect((await upgrade(own.url, { path: `/mcp?ticket=${first}` })).status).toBe(101);
    await ticketOf(own, { token });
  });

  test('over the rate of its address, before its token is judged', async () => {
    const own = await startGateway(browserConfig({ limits: { handshakes: { perAddress: { rate: 1, burst: 1 } } } }));
    await ticketOf(own);
    const refused = [429, null, expect.stringMatching(/^\d+$/), 'no-store', '{"error":"handshakes_per_address"}'];
    expect(await asked({ token: 'nonsense' }, own)).toEqual(refused);
  });

  test('while too many tokens are being judged, and while the keys cannot be had', async () => {
    const server = await startKeyServer();
    onTestFinished(() => server.close());
    const far = await makeIssuer({ alg: 'ES256' });
    server.rotate(far.jwks.keys);
    server.stall();
    const issuers = [{ issuer: far.issuer, keys: { jwksUri: server.jwksUri } }];
    const own = await startGateway(browserConfig({ limits: { handshakes: { pending: 1 } } }, { issuers }));
    const token = await far.sign();
    const first = askTicket(own, { token });
    await expect.poll(() => server.fetches()).toBe(1);
    expect(await asked({ token }, own)).toEqual([503, null, '1', 'no-store', '{"error":"pending"}']);
    server.release();
    expect((await first).status).toBe(201);
  });
});

test('the route takes POST and OPTIONS alone, and no upgrade', async () => {
  const url = `${gateway().url}/tickets`;
  for (const method of ['GET', 'PUT', 'DELETE', 'HEAD']) {
    const { status, headers } = await upgrade(url, { method, headers: { upgrade: undefined, connection: 'close' } });
    expect([status, headers.allow]).toEqual([405, 'OPTIONS, POST']);
  }
  for (const method of ['GET', 'POST']) expect((await upgrade(url, { method })).status).toBe(405);
  expect((await upgrade(`${gateway().url}/other`, { method: 'POST' })).status).toBe(404);
});
