import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { jwtVerifier } from '../../src/auth/jwt.ts';
import type { IssuerOptions, JwtOptions, KeyOptions } from '../../src/auth/jwt-options.ts';
import type { JwtAuth } from '../../src/config/schema.ts';
import { issuerOptions, jwtOptions, recordingLog } from '../kits/verifier-kit.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { makeIssuer, makeKey } from '../support/tokens.ts';

const folder = await mkdtemp(join(tmpdir(), 'jwt-'));
afterAll(() => rm(folder, { recursive: true }));

const idp = await makeIssuer();
const TIMES = { timeout: 5_000, cacheMaxAge: 600_000, cooldown: 30_000, staleIfError: 0 };
const now = fakeClock().now();

function open(...issuers: readonly IssuerOptions[]) {
  return jwtVerifier(jwtOptions(...issuers), { clock: fakeClock(), log: recordingLog() });
}

describe('text that is no token', () => {
  const verifier = open(issuerOptions(idp.issuer, { secret: idp.secret }));
  const part = (text: string) => Buffer.from(text).toString('base64url');

  it.each([
    ['nothing', ''],
    ['two parts', 'a.b'],
    ['five parts, an encrypted one', 'a.b.c.d.e'],
    ['a header that is not JSON', `${part('x')}.${part('{}')}.x`],
    ['a header without alg', `${part('{}')}.${part('{}')}.x`],
    ['a payload that is a list', `${part('{"alg":"HS256"}')}.${part('[]')}.x`],
    ['padding', `${part('{"alg":"HS256"}')}=.${part('{}')}.x`],
    ['a JSON serialization', '{"protected":"","payload":"","signature":""}'],
  ])('is malformed: %s', async (_, text) => {
    expect(await verifier.verify(text)).toStrictEqual({ outcome: 'refused', reason: 'malformed' });
  });

  it('is never thrown at the caller, whatever it is', async () => {
    const json = fc.json().map((text) => `${part('{"alg":"HS256"}')}.${part(text)}.x`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), json), async (text) => {
        expect((await verifier.verify(text)).outcome).toBe('refused');
      }),
    );
  });

  it('is not looked at beyond 16 KiB', async () => {
    const [fits, tooLong] = [
      await idp.sign({ pad: 'x'.repeat(11_900) }, { now }),
      await idp.sign({ pad: 'x'.repeat(12_300) }, { now }),
    ];
    expect(await verifier.verify(fits)).toMatchObject({ outcome: 'accepted' });
    expect(await verifier.verify(tooLong)).toStrictEqual({ outcome: 'refused', reason: 'malformed' });
  });

  it.each([
    ['a critical header that is not understood', { crit: ['x'], x: 1 }, { issuer: idp.issuer }],
    ['an unencoded payload', { b64: false, crit: ['b64'] }, {}],
  ])('is malformed: %s', async (_, header, by) => {
    const [, payload, signature] = (await idp.sign({}, { now })).split('.');
    const token = `${part(JSON.stringify({ alg: 'HS256', ...header }))}.${payload}.${signature}`;
    expect(await verifier.verify(token)).toStrictEqual({ outcome: 'refused', reason: 'malformed', ...by });
  });
});

describe('what cannot be verified with is refused at start, in a sentence', () => {
  const good: KeyOptions = { secret: idp.secret };
  const uri = (jwksUri: string) => issuerOptions('idp', { jwksUri, ...TIMES });
  it.each([
    [
      'a short secret',
      issuerOptions('idp', { secret: 'sentinel-31-bytes-sentinel-31-b' }),
      'Issuer idp: secret is shorter than 32 bytes',
    ],
    [
      'public-key algorithms with a secret',
      issuerOptions('idp', good, { algorithms: ['RS256'] }),
      'Issuer idp: algorithm RS256 does not fit its keys; usable are HS256',
    ],
    [
      'alg none',
      issuerOptions('idp', good, { algorithms: ['none'] }),
      'Issuer idp: algorithm none does not fit its keys; usable are HS256',
    ],
    ['no algorithm', issuerOptions('idp', good, { algorithms: [] }), 'Issuer idp: algorithms is empty'],
    [
      'HS256 with public keys',
      { ...uri('https://idp.example.com/jwks'), algorithms: ['HS256'] },
      'Issuer idp: algorithm HS256 does not fit its keys; usable are ES256, RS256, EdDSA, ES384, ES512, RS384, RS512, PS256, PS384, PS512',
    ],
    [
      'keys over plain http',
      uri('http://idp.example.com/jwks'),
      'Issuer idp: jwksUri is neither https nor http to a loopback address',
    ],
    [
      'keys from a file',
      uri('file:///etc/jwks.json'),
      'Issuer idp: jwksUri is neither https nor http to a loopback address',
    ],
    [
      'credentials in the URL',
      uri('https://me:sentinel@idp.example.com/jwks'),
      'Issuer idp: jwksUri holds credentials',
    ],
    [
      'discovery of what is no URL',
      issuerOptions('idp', { discovery: true, ...TIMES }),
      'Issuer idp cannot be discovered: it is not an absolute URL',
    ],
    [
      'a file that is not there',
      issuerOptions('idp', { jwksFile: join(folder, 'none.json') }),
      'Issuer idp: jwksFile cannot be read',
    ],
  ])('%s', (_, issuer, sentence) => {
    expect(() => open(issuer)).toThrow(new Error(sentence));
  });

  it.each([
    ['not JSON', 'sentinel'],
    ['no key set', '{"keys":[1]}'],
    ['a symmetric key', '{"keys":[{"kty":"oct","k":"c2VudGluZWw"}]}'],
    ['a private key', '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"}]}'],
  ])('a key set file with %s', async (_, text) => {
    const path = join(folder, 'bad.json');
    await writeFile(path, text);
    expect(() => open(issuerOptions('idp', { jwksFile: path }))).toThrow(
      new Error('Issuer idp: jwksFile is not a JSON Web Key Set of public keys'),
    );
  });

  it('one issuer twice', () => {
    expect(() => open(issuerOptions('idp', good), issuerOptions('idp', good))).toThrow(
      'Issuer idp is configured twice',
    );
  });
});

describe('a key set', () => {
  async function openSet(...keys: readonly unknown[]) {
    const path = join(folder, 'set.json');
    await writeFile(path, JSON.stringify({ keys }));
    return open(issuerOptions(idp.issuer, { jwksFile: path }));
  }

  it('is tried through for a token that names no key, up to eight', async () => {
    const keys = await Promise.all(Array.from({ length: 9 }, (_, n) => makeKey('ES256', `key-${n}`)));
    const verifier = await openSet(...keys.map((key) => key.jwk));
    const tokens = await Promise.all(keys.map((key) => idp.sign({}, { now, key, header: { kid: undefined } })));
    const verdicts = await Promise.all(tokens.map((token) => verifier.verify(token)));
    expect(verdicts.slice(0, 8).map((verdict) => verdict.outcome)).toStrictEqual(Array(8).fill('accepted'));
    expect(verdicts[8]).toStrictEqual({ outcome: 'refused', reason: 'bad_signature', issuer: idp.issuer });
  });

  it('keeps a key to its own algorithm and use', async () => {
    const key = await makeKey('ES256');
    const token = await idp.sign({}, { now, key });
    const unknown = { outcome: 'refused', reason: 'unknown_key', issuer: idp.issuer };
    expect(await (await openSet({ ...key.jwk, alg: 'RS256' })).verify(token)).toStrictEqual(unknown);
    expect(await (await openSet({ ...key.jwk, use: 'enc' })).verify(token)).toStrictEqual(unknown);
  });

  it('with a broken key says so in the cause, without the key', async () => {
    const verifier = await openSet({ kty: 'EC', crv: 'P-256', kid: 'key-1', x: 'c2VudGluZWw', y: 'c2VudGluZWw' });
    const verdict = await verifier.verify(await idp.sign({}, { now, key: await makeKey('ES256') }));
    expect(verdict).toMatchObject({
      outcome: 'refused',
      reason: 'unknown_key',
      cause: new Error('A matching key of the set cannot be used (DataError)'),
    });
  });
});

it('takes the configuration as it is', () => {
  // The assignment is the test: types that drift apart fail the type check.
  const options: (config: JwtAuth) => JwtOptions = (config) => config;
  expect(options).toBeTypeOf('function');
});
