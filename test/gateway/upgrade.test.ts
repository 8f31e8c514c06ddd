import { describe, expect, test } from 'vitest';
import { DRAINED, DRAINING_DATA } from '../support/drained.ts';
import { fileGateway } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { upgrade } from '../support/upgrade-request.ts';

const gateway = fileGateway({ origins: ['https://app.example'] });
const ask = (options: Parameters<typeof upgrade>[1] = {}) => upgrade(gateway().url, options);
const verdict = async (options: Parameters<typeof upgrade>[1]) => {
  const { status, body } = await ask(options);
  return [status, body];
};
const offers = (value: string) => ({ headers: { 'sec-websocket-protocol': value } });

describe('before 101', () => {
  test('a request that is no upgrade is told to be one', async () => {
    const { status, headers, body } = await ask({ headers: { upgrade: undefined, connection: 'close' } });
    expect([status, headers.upgrade, body]).toEqual([426, 'websocket', '{"error":"not_an_upgrade"}']);
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'TRACE'])('%s is not allowed', async (method) => {
    const { status, headers } = await ask({ method, headers: { upgrade: undefined, connection: 'close' } });
    expect([status, headers.allow]).toEqual([405, 'GET']);
  });

  test('a POST with a message, as Streamable HTTP sends it, is not allowed', async () => {
    const url = gateway().url.replace('ws:', 'http:');
    const headers = { 'content-type': 'application/json' };
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const answer = await fetch(`${url}?x=1`, { method: 'POST', headers, body });
    expect([answer.status, await answer.text()]).toEqual([405, '{"error":"method_not_allowed"}']);
    const elsewhere = await fetch(new URL('/other', url), { method: 'POST', headers, body });
    expect([elsewhere.status, await elsewhere.text()]).toEqual([404, '{"error":"not_found"}']);
    expect(gateway().log.map(({ event }) => event)).not.toContain('upgrade_failed');
  });

  test('HEAD is not allowed, an upgrade by POST neither', async () => {
    const plain = { upgrade: undefined, connection: 'close' };
    expect((await ask({ method: 'HEAD', headers: plain })).status).toBe(405);
    expect((await ask({ method: 'POST' })).status).toBe(405);
  });

  test('a path that cannot be decoded is a bad request, told without quoting it', async () => {
    expect(await verdict({ path: '/mcp%zz' })).toEqual([400, '{"error":"bad_request"}']);
  });

  test.each(['/', '/mcp/', '/mcp/x', '/other'])('there is nothing at %s', async (path) => {
    expect(await verdict({ path })).toEqual([404, '{"error":"not_found"}']);
    expect(await verdict({ path, headers: { upgrade: undefined, connection: 'close' } })).toEqual([
      404,
      '{"error":"not_found"}',
    ]);
  });

  test.each([
    { 'sec-websocket-key': undefined },
    { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ' },
    { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZSE=' },
    { 'sec-websocket-key': ['dGhlIHNhbXBsZSBub25jZQ==', 'dGhlIHNhbXBsZSBub25jZQ=='] },
    { 'sec-websocket-version': undefined },
    { 'sec-websocket-version': '8' },
    { 'sec-websocket-version': '13, 8' },
  ])('a handshake that RFC 6455 does not allow is refused: %j', async (wrong) => {
    const { status, headers, body } = await ask({ headers: wrong });
    expect([status, headers['sec-websocket-version'], body]).toEqual([400, '13', '{"error":"websocket"}']);
  });

  test('an upgrade to something else is told what it may be', async () => {
    const { status, headers, body } = await ask({ headers: { upgrade: 'h2c' } });
    expect([status, headers.upgrade, body]).toEqual([426, 'websocket', '{"error":"not_an_upgrade"}']);
  });
});

describe('the subprotocol', () => {
  test.each(['mcp', 'other, mcp', 'mcp,mcp.auth.x', 'mcp.auth.abc.def.ghi, mcp, other'])(
    'selected of %s is exactly mcp',
    async (offered) => {
      const { status, headers } = await ask(offers(offered));
      expect([status, headers['sec-websocket-protocol']]).toEqual([101, 'mcp']);
    },
  );

  test('is none where none was offered', async () => {
    const { status, headers } = await ask();
    expect([status, headers['sec-websocket-protocol']]).toEqual([101, undefined]);
  });

  test.each(['mcp, mcp', 'mcp,,other', 'mcp,', 'mcp, a b', 'mcp, a;b', ''])(
    'not well formed is refused: %j',
    async (offered) => {
      expect(await verdict(offers(offered))).toEqual([400, '{"error":"subprotocol"}']);
    },
  );

  test.each(['other', 'MCP', 'mcp.auth.x', 'mcp2, graphql-ws'])('%s alone is refused', async (offered) => {
    expect(await verdict(offers(offered))).toEqual([400, '{"error":"subprotocol"}']);
  });
});

describe('where it comes from', () => {
  test('no Origin and a listed one pass', async () => {
    expect((await ask()).status).toBe(101);
    expect((await ask({ headers: { origin: 'https://app.example' } })).status).toBe(101);
  });

  test.each(['null', 'https://evil.example', 'https://app.example:444', 'http://app.example', ''])(
    'Origin %j is refused',
    async (origin) => {
      expect(await verdict({ headers: { origin } })).toEqual([403, '{"error":"origin"}']);
    },
  );

  test.each(['localhost', 'localhost:9', '127.0.0.1', '[::1]:80', 'LOCALHOST'])('Host %s passes', async (host) => {
    expect((await ask({ headers: { host } })).status).toBe(101);
  });

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1:80', 'a b'])(
    'Host %s is refused',
    async (host) => {
      expect(await verdict({ headers: { host } })).toEqual([403, '{"error":"host"}']);
    },
  );

  test.each(['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'via'])(
    'an anonymous gateway takes nothing that carries %s',
    async (name) => {
      expect(await verdict({ headers: { [name]: '1.2.3.4' } })).toEqual([403, '{"error":"forwarded"}']);
    },
  );

  test('faults are told in the order headers, Host, Origin, subprotocol, token', async () => {
    const wrong = {
      'sec-websocket-version': '12',
      via: 'x',
      host: 'evil.example',
      origin: 'null',
      'sec-websocket-protocol': 'other',
    };
    const path = '/mcp?token=abc';
    const { 'sec-websocket-version': _version, ...noVersion } = wrong;
    const { via: _via, ...noVia } = noVersion;
    const { host: _host, ...noHost } = noVia;
    const { origin: _origin, ...noOrigin } = noHost;
    const bodies = [];
    for (const headers of [wrong, noVersion, noVia, noHost, noOrigin, {}])
      bodies.push((await ask({ path, headers })).body);
    expect(bodies).toEqual([
      '{"error":"websocket"}',
      '{"error":"forwarded"}',
      '{"error":"host"}',
      '{"error":"origin"}',
      '{"error":"subprotocol"}',
      '{"error":"token_carriage"}',
    ]);
  });
});

test('while it drains no socket and no call is taken, idle sockets close and calls in flight are answered', async () => {
  const own = await startGateway({ mcpServers: { up: stdioUpstream('plain.mjs') } });
  const [idle, busy] = [await openRaw(own.url), await openRaw(own.url)];
  busy.send(toolCall(1, 'up__beat', { every: 300, times: 3 }, { progressToken: 1 }));
  await busy.next();
  const closing = own.close();
  expect(await idle.closed).toEqual(DRAINED);
  // Its own turn is 20 ms later.
  await busy.next();
  const refused = await upgrade(own.url);
  expect([refused.status, refused.headers['retry-after'], refused.body]).toEqual([503, '5', '{"error":"draining"}']);
  expect(await busy.ask(toolCall(2, 'up__echo'))).toEqual(
    errorAnswer(2, -32603, 'The gateway is shutting down', DRAINING_DATA),
  );
  await busy.next();
  expect(await busy.json()).toEqual(textAnswer(1, 'beat 3'));
  expect(await busy.closed).toEqual(DRAINED);
  await closing;
});
