import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { jwtVerifier } from '../../src/auth/jwt.ts';
import type { IssuerOptions, JwtOptions, KeyOptions } from '../../src/auth/jwt-options.ts';
import type { Fields, Log } from '../../src/ports/log.ts';
import type { Verification, Verifier } from '../../src/ports/verifier.ts';
import { fakeClock } from '../support/fake-clock.ts';
import type { KeyServer } from '../support/key-server.ts';
import {
  makeIssuer,
  makeKey,
  type SigningAlgorithm,
  secretKey,
  type TestIssuer,
  type TestKey,
  unsignedToken,
} from '../support/tokens.ts';

/** One kind of keys, and what it is capable of. */
export interface KeysUnderTest {
  readonly alg: SigningAlgorithm;
  /** Public keys that anyone may know. */
  readonly published: boolean;
  open(key: TestKey): Promise<OpenKeys>;
}

export interface OpenKeys {
  readonly issuer: string;
  readonly keys: KeyOptions;
  close(): Promise<void>;
}

/** Keys that are fetched; the kit drives the server. Its times are in milliseconds, and tests count on them. */
export interface RemoteKeysUnderTest extends KeysUnderTest {
  open(key: TestKey): Promise<OpenKeys & { readonly server: KeyServer }>;
}

export const REMOTE_TIMES = { timeout: 5_000, cacheMaxAge: 600_000, cooldown: 30_000, staleIfError: 3_600_000 };

const RESOURCE = 'https://mcp.example.com/mcp';
const HOUR = 3_600;

export function issuerOptions(issuer: string, keys: KeyOptions, more: Partial<IssuerOptions> = {}): IssuerOptions {
  const claims = { id: 'sub', roles: 'roles', scopes: 'scope' };
  return { issuer, keys, claims, require: {}, roles: { map: {}, allowed: null }, ...more };
}

export function jwtOptions(...issuers: readonly IssuerOptions[]): JwtOptions {
  return { resource: RESOURCE, clockTolerance: 30_000, maxTokenLife: 24 * HOUR * 1000, issuers };
}

/** Keeps what is logged, errors with their causes as text. */
export function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (event: string, fields: Fields = {}) => {
    lines.push([event, ...Object.values(fields).map(textOf)].join(' '));
  };
  const log = { debug: write, info: write, warn: write, error: write, child: () => log, lines };
  return log;
}

function textOf(value: unknown): string {
  return value instanceof Error ? `${value.stack} ${textOf(value.cause)}` : String(value);
}

/** What every kind of keys must do. */
export function verifierKit(name: string, kind: KeysUnderTest): void {
  describe(`verifier kit: ${name}`, () => {
    const world = openWorld(kind);

    it('accepts a good token and reads who it is', async () => {
      const { sign, issuer, verify } = world();
      expect(await verify(await sign({ roles: ['reader'], scope: 'a b' }))).toMatchObject({
        outcome: 'accepted',
        identity: { issuer, id: 'alice', roles: ['reader'], scopes: ['a', 'b'], expiresAt: Date.UTC(2030, 0, 1, 0, 5) },
      });
    });

    const now = Date.UTC(2030, 0, 1) / 1000;
    it.each([
      ['an expired one', { iat: now - 600, exp: now - 31 }, 'expired'],
      ['one not yet valid', { nbf: now + 31 }, 'not_yet_valid'],
      ['one without exp', { exp: undefined }, 'no_expiry'],
      ['too long a life', { exp: now + 24 * HOUR + 1 }, 'life_too_long'],
      ['another audience', { aud: 'https://other.example.com' }, 'wrong_audience'],
      ['no audience', { aud: undefined }, 'wrong_audience'],
    ])('refuses %s, and says whose rules refused it', async (_, claims, reason) => {
      const { sign, verify, issuer } = world();
      expect(await verify(await sign(claims))).toStrictEqual({ outcome: 'refused', reason, issuer });
    });

    it.each([
      ['another issuer', 'https://evil.example.com/'],
      ['an issuer that differs in its end', `${RESOURCE}/x`],
    ])('refuses %s, and repeats no issuer it does not know', async (_, iss) => {
      const { sign, verify } = world();
      expect(await verify(await sign({ iss }))).toStrictEqual({ outcome: 'refused', reason: 'unknown_issuer' });
    });

    it('tolerates clocks that differ by less than the tolerance, both ways', async () => {
      const { sign, verify } = world();
      expect(await verify(await sign({ iat: now - 600, exp: now - 29 }))).toMatchObject({ outcome: 'accepted' });
      expect(await verify(await sign({ nbf: now + 29 }))).toMatchObject({ outcome: 'accepted' });
    });

    it('refuses alg none, however it is written', async () => {
      const { verify, issuer } = world();
      const claims = { iss: issuer, aud: RESOURCE, sub: 'alice', exp: now + 300 };
      const spelled = unsignedToken(claims).replace(/^[^.]+/, Buffer.from('{"alg":"None"}').toString('base64url'));
      expect(await verify(unsignedToken(claims))).toStrictEqual({
        outcome: 'refused',
        reason: 'bad_algorithm',
        issuer,
      });
      expect(await verify(spelled)).toStrictEqual({ outcome: 'refused', reason: 'bad_algorithm', issuer });
    });

    it('refuses a signature of another key under the same name', async () => {
      const { sign, verify, key, issuer } = world();
      const other = kind.published ? await makeKey(kind.alg, key.kid) : secretKey('another-secret-of-32-bytes-or-more');
      expect(await verify(await sign({}, other))).toStrictEqual({
        outcome: 'refused',
        reason: 'bad_signature',
        issuer,
      });
    });

    it('refuses an algorithm the issuer does not use', async () => {
      const { sign, verify, key, issuer } = world();
      const other = kind.published ? secretKey('another-secret-of-32-bytes-or-more') : await makeKey('ES256', key.kid);
      expect(await verify(await sign({}, other))).toStrictEqual({
        outcome: 'refused',
        reason: 'bad_algorithm',
        issuer,
      });
    });
    if (kind.published) publishedKeys(world);
  });
}

function publishedKeys(world: () => World): void {
  it('refuses HS256 signed with the text of the public key (report B142)', async () => {
    const { sign, verify, key, issuer } = world();
    const forged = await sign({}, secretKey(key.pem ?? '', key.kid));
    expect(await verify(forged)).toStrictEqual({ outcome: 'refused', reason: 'bad_algorithm', issuer });
  });

  it('refuses a key that is not in the set', async () => {
    const { sign, verify, key, issuer } = world();
    const stranger = await makeKey(key.alg, 'key-9');
    expect(await verify(await sign({}, stranger))).toStrictEqual({ outcome: 'refused', reason: 'unknown_key', issuer });
  });

  it('finds the key of a token that names none', async () => {
    const { verify, issuer, key } = world();
    const signer = await makeIssuer({ issuer, key });
    const token = await signer.sign({}, { now: Date.UTC(2030, 0, 1), header: { kid: undefined } });
    expect(await verify(token)).toMatchObject({ outcome: 'accepted' });
  });
}

interface World {
  readonly issuer: string;
  readonly key: TestKey;
  readonly verify: (token: string) => Promise<Verification>;
  /** Signs at the verifier's own time. */
  readonly sign: (claims?: Parameters<TestIssuer['sign']>[0], key?: TestKey) => Promise<string>;
}

/** A fresh verifier for each test, closed after it. */
function openWorld(kind: KeysUnderTest): () => World {
  let opened: { world: World; end: () => Promise<void> } | undefined;
  let key: TestKey;
  beforeAll(async () => {
    key = await makeKey(kind.alg);
  });
  beforeEach(async () => {
    const { issuer, keys, close } = await kind.open(key);
    const verifier = jwtVerifier(jwtOptions(issuerOptions(issuer, keys)), { clock: fakeClock(), log: recordingLog() });
    const signer = await makeIssuer({ issuer, key });
    const sign: World['sign'] = (claims, other) =>
      signer.sign(claims, { now: Date.UTC(2030, 0, 1), key: other ?? key });
    opened = {
      world: { issuer, key, verify: (token) => verifier.verify(token), sign },
      end: () => end(verifier, close),
    };
  });
  afterEach(() => opened?.end());
  return () => {
    if (opened === undefined) throw new Error('The world is not open');
    return opened.world;
  };
}

async function end(verifier: Verifier, close: () => Promise<void>): Promise<void> {
  await verifier.close();
  await close();
}
