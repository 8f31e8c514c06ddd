import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jwtVerifier } from '../../src/auth/jwt.ts';
import { remoteKeysKit } from '../kits/remote-keys-kit.ts';
import {
  issuerOptions,
  jwtOptions,
  type KeysUnderTest,
  REMOTE_TIMES,
  type RemoteKeysUnderTest,
  recordingLog,
  verifierKit,
} from '../kits/verifier-kit.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { startKeyServer } from '../support/key-server.ts';
import { makeIssuer, makeKey, type SigningAlgorithm, type TestKey } from '../support/tokens.ts';

const OTHER_ISSUER = 'The discovered metadata names another issuer';
const ISSUER = 'https://idp.example.com/';

const secret: KeysUnderTest = {
  alg: 'HS256',
  published: false,
  open: async () => ({ issuer: ISSUER, keys: { secret: (await makeIssuer()).secret }, close: async () => undefined }),
};

function jwksFile(alg: SigningAlgorithm): KeysUnderTest {
  return {
    alg,
    published: true,
    open: async (key) => {
      const folder = await mkdtemp(join(tmpdir(), 'keys-'));
      await writeFile(join(folder, 'jwks.json'), JSON.stringify({ keys: [key.jwk] }));
      return {
        issuer: ISSUER,
        keys: { jwksFile: join(folder, 'jwks.json') },
        close: () => rm(folder, { recursive: true }),
      };
    },
  };
}

const jwksUri: RemoteKeysUnderTest = {
  alg: 'ES256',
  published: true,
  open: async (key) => {
    const server = await startKeyServer(keysOf(key));
    return { issuer: ISSUER, keys: { jwksUri: server.jwksUri, ...REMOTE_TIMES }, server, close: () => server.close() };
  },
};

/** `path` is the issuer's own; `wellKnown` where the server has the metadata document. */
function discovery(path: string, wellKnown: string): RemoteKeysUnderTest {
  return {
    alg: 'RS256',
    published: true,
    open: async (key) => {
      const server = await startKeyServer(keysOf(key));
      const issuer = `${server.origin}${path}`;
      server.documents({ [wellKnown]: { issuer, jwks_uri: server.jwksUri } });
      return { issuer, keys: { discovery: true, ...REMOTE_TIMES }, server, close: () => server.close() };
    },
  };
}

function keysOf(key: TestKey) {
  return key.jwk === undefined ? [] : [key.jwk];
}

const discovered = discovery('/realms/main', '/realms/main/.well-known/openid-configuration');

verifierKit('a secret', secret);
verifierKit('a key set file, ES256', jwksFile('ES256'));
verifierKit('a key set file, RS256', jwksFile('RS256'));
verifierKit('a key set file, EdDSA', jwksFile('EdDSA'));
verifierKit('a key set by URL', jwksUri);
verifierKit('discovery', discovered);
verifierKit('discovery as RFC 8414 has it', discovery('/tenant', '/.well-known/oauth-authorization-server/tenant'));
verifierKit('discovery of an issuer that ends in a slash', discovery('/', '/.well-known/openid-configuration'));
remoteKeysKit('a key set by URL', jwksUri);
remoteKeysKit('discovery', discovered);

describe('discovery trusts a document only about its own issuer and only with a safe address', () => {
  it.each([
    ['names another issuer', OTHER_ISSUER, { issuer: 'https://other.example.com' }],
    ['differs from the issuer in a slash', OTHER_ISSUER, (issuer: string) => ({ issuer: `${issuer}/` })],
    [
      'sends us over plain http to another host',
      'The discovered jwks_uri is neither https nor http to a loopback address',
      { jwks_uri: 'http://keys.example.com/jwks' },
    ],
    ['has no jwks_uri', 'The discovered metadata has no jwks_uri', { jwks_uri: undefined }],
  ])('%s', async (_, sentence, change) => {
    const key = await makeKey('ES256');
    const server = await startKeyServer(keysOf(key));
    const good = { issuer: server.origin, jwks_uri: server.jwksUri };
    const changed = typeof change === 'function' ? change(server.origin) : change;
    server.documents({ '/.well-known/openid-configuration': { ...good, ...changed } });
    const options = jwtOptions(issuerOptions(server.origin, { discovery: true, ...REMOTE_TIMES }));
    const verifier = jwtVerifier(options, { clock: fakeClock(), log: recordingLog() });
    const token = await (await makeIssuer({ issuer: server.origin, key })).sign({}, { now: fakeClock().now() });
    expect(await verifier.verify(token)).toMatchObject({ outcome: 'unavailable', cause: new Error(sentence) });
    expect(server.fetches()).toBe(0);
    await verifier.close();
    await server.close();
  });
});

describe('several issuers', () => {
  it('are told apart by iss, each verified with its own keys alone, and equal subjects stay different', async () => {
    const [one, two] = [await makeIssuer({ issuer: 'https://one.example.com' }), await makeIssuer({ issuer: 'two' })];
    const other = 'the-secret-of-the-second-issuer-32b';
    const options = jwtOptions(
      issuerOptions(one.issuer, { secret: one.secret }),
      issuerOptions(two.issuer, { secret: other }),
    );
    const verifier = jwtVerifier(options, { clock: fakeClock(), log: recordingLog() });
    const now = fakeClock().now();
    const second = { ...two.key, signer: new TextEncoder().encode(other) };
    const verdicts = [
      await one.sign({}, { now }),
      await two.sign({}, { now, key: second }),
      await two.sign({}, { now }),
    ];
    expect(await Promise.all(verdicts.map((token) => verifier.verify(token)))).toMatchObject([
      { outcome: 'accepted', identity: { issuer: 'https://one.example.com', id: 'alice' } },
      { outcome: 'accepted', identity: { issuer: 'two', id: 'alice' } },
      { outcome: 'refused', reason: 'bad_signature' },
    ]);
  });
});
