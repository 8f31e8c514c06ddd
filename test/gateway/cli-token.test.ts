import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { jwtVerifier } from '../../src/auth/jwt.ts';
import { systemClock } from '../../src/observe/clock.ts';
import { runCli } from '../support/cli.ts';
import { accepted, fileWith } from '../support/config-fixtures.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';
import { recordedLog } from '../support/recorded.ts';

const SECRET = 'a-development-secret-of-32-bytes-or-more';
const ISSUER = { issuer: 'https://dev.example/', keys: { secret: SECRET } };
const AUTH = { mode: 'jwt', resource: 'http://127.0.0.1:8080/mcp', issuers: [ISSUER] };

function token(auth: Readonly<Record<string, unknown>>, ...args: string[]) {
  return runCli(['token', '--config', fileWith('gateway.yaml', stringify({ auth, policy: null })), ...args]);
}

/** Whom the gateway with this configuration takes the bearer of a token for. */
async function identityOf(auth: Readonly<Record<string, unknown>>, signed: string) {
  const config = accepted(stringify({ auth, policy: null }));
  if (config.auth.mode !== 'jwt') throw new Error('not in jwt mode');
  return jwtVerifier(config.auth, { clock: systemClock(), log: recordedLog() }).verify(signed.trim());
}

test('standard output is the token and nothing else; standard error says how to connect, without it', async () => {
  const { code, stdout, stderr } = await token(AUTH, '--id', 'ada', '--role', 'admin', '--role', 'ops');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(stderr).toBe(`For ada with the roles admin, ops, good for 1h. Connect to ws://127.0.0.1:8080/mcp with one of
  Authorization: Bearer <token>
  Sec-WebSocket-Protocol: mcp, mcp.auth.<token>     (in a browser: new WebSocket(url, ["mcp", "mcp.auth." + token]))
`);
});

test('a gateway takes it in the header and as a subprotocol', async () => {
  const signed = (await token(AUTH, '--role', 'admin')).stdout.trim();
  const gateway = await startGateway({
    auth: AUTH,
    policy: [{ roles: ['admin'], allow: { tools: ['**'] } }],
    mcpServers: { fixture: stdioUpstream('fixture.mjs') },
  });
  const clients = await Promise.all([
    openRaw(gateway.url, { headers: { authorization: `Bearer ${signed}` } }),
    openRaw(gateway.url, { protocols: ['mcp', `mcp.auth.${signed}`] }),
  ]);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
  const params = { name: 'fixture__echo', arguments: { text: 'hello' } };
  for (const client of clients) {
    expect(await client.ask({ ...call, params })).toMatchObject({ result: { content: [{ text: 'hello' }] } });
  }
});

test('it is shaped as its issuer is read: claim paths, audience claim, required claims and scopes, life', async () => {
  const issuer = {
    ...ISSUER,
    audience: { claim: 'client_id', values: ['gateway'] },
    claims: { id: 'email', roles: ['realm', 'roles'], scopes: 'scp' },
    require: { token_use: ['access', 'id'] },
    roles: { map: { admins: 'admin' }, allowed: ['admin'] },
  };
  const auth = { ...AUTH, requiredScopes: ['mcp'], issuers: [issuer] };
  const asked = ['--id', 'a@b.c', '--role', 'admins', '--role', 'guest', '--scope', 'more', '--expires-in', '30m'];
  const { stdout, stderr } = await token(auth, ...asked);
  const verdict = await identityOf(auth, stdout);
  expect(verdict).toMatchObject({
    outcome: 'accepted',
    identity: { issuer: 'https://dev.example/', id: 'a@b.c', roles: ['admin'], scopes: ['mcp', 'more'] },
  });
  const { exp = 0, iat = 0 } = JSON.parse(Buffer.from(stdout.split('.')[1] ?? '', 'base64url').toString());
  expect(exp - iat).toBe(1800);
  expect(stderr).toContain(
    'warning: the gateway drops the role guest: roles.allowed of this issuer does not name it\n',
  );
});

test('of several issuers with a secret one is chosen', async () => {
  const other = { issuer: 'https://other.example/', keys: { secret: SECRET.toUpperCase() } };
  const fetched = { issuer: 'https://idp.example/', keys: { jwksUri: 'https://idp.example/jwks' } };
  const auth = { ...AUTH, issuers: [ISSUER, fetched, other] };
  expect(await token(auth)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'several issuers have a secret: choose one with --issuer (https://dev.example/, https://other.example/)\n',
  });
  const { stdout } = await token(auth, '--issuer', 'https://other.example/');
  expect(await identityOf(auth, stdout)).toMatchObject({
    outcome: 'accepted',
    identity: { issuer: 'https://other.example/', id: 'developer', roles: [], scopes: [] },
  });
});

describe('one sentence and exit code 1', () => {
  const fetched = { issuer: 'https://idp.example/', keys: { jwksUri: 'https://idp.example/jwks' } };
  test.each([
    ['anonymous', { mode: 'anonymous' }, [], 'auth.mode is anonymous: there are no tokens, connect without one'],
    [
      'no secret',
      { ...AUTH, issuers: [fetched] },
      [],
      'no issuer in auth.issuers has a secret: only its own server can sign its tokens',
    ],
    ['id', AUTH, ['--id', ''], '--id must not be empty: nobody is called nothing'],
    ['issuer', AUTH, ['--issuer', 'x'], '--issuer is none of the issuers with a secret (https://dev.example/)'],
    ['duration', AUTH, ['--expires-in', '3600'], '--expires-in must be a duration of at least 1s, such as 30m or 1h'],
    [
      'too long',
      AUTH,
      ['--expires-in', '25h'],
      '--expires-in must be at most auth.maxTokenLife, or the gateway refuses the token',
    ],
    [
      'too short a secret',
      { ...AUTH, issuers: [{ ...ISSUER, keys: { secret: 'short' } }] },
      [],
      'auth.issuers[0].keys.secret must be text of at least 32 bytes',
    ],
  ])('%s', async (_title, auth, args, sentence) => {
    const file = fileWith('gateway.yaml', stringify(auth.mode === 'jwt' ? { auth, policy: null } : { auth }));
    expect(await runCli(['token', '--config', file, ...args])).toEqual({
      code: 1,
      stdout: '',
      stderr: `${sentence}\n`,
    });
  });
});
