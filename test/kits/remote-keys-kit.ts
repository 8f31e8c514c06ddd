import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { jwtVerifier } from '../../src/auth/jwt.ts';
import type { Verification } from '../../src/ports/verifier.ts';
import { fakeClock } from '../support/fake-clock.ts';
import type { KeyServer } from '../support/key-server.ts';
import { makeIssuer, makeKey, type TestKey } from '../support/tokens.ts';
import { issuerOptions, jwtOptions, type RemoteKeysUnderTest, recordingLog } from './verifier-kit.ts';

const UNAVAILABLE = { outcome: 'unavailable' };
const ACCEPTED = { outcome: 'accepted' };

/** What every kind of fetched keys must do: at most one attempt a cool-down, whatever the callers and the server do. */
export function remoteKeysKit(name: string, kind: RemoteKeysUnderTest): void {
  describe(`remote keys kit: ${name}`, () => {
    const world = openWorld(kind);

    it('fetches nothing before a token needs it, then once for all callers at once', async () => {
      const { server, token, verify } = world();
      expect(server.paths()).toStrictEqual([]);
      server.stall();
      const verdicts = Promise.all(Array.from({ length: 50 }, () => verify(token)));
      await expect.poll(() => server.paths().length).toBe(1);
      server.release();
      expect(new Set((await verdicts).map((verdict) => verdict.outcome))).toStrictEqual(new Set(['accepted']));
      expect(server.fetches()).toBe(1);
    });

    it('accepts a rotated key after at most the cool-down, with few fetches (report B138)', async () => {
      const { server, token, verify, clock, signWith, issuer } = world();
      const rotated = await makeKey(kind.alg, 'key-2');
      await verify(token);
      server.rotate([rotated.jwk ?? {}]);
      expect(await verify(await signWith(rotated))).toStrictEqual({
        outcome: 'refused',
        reason: 'unknown_key',
        issuer,
      });
      clock.advance(30_000);
      const tokens = await Promise.all(Array.from({ length: 100 }, () => signWith(rotated)));
      const verdicts = await Promise.all(tokens.map(verify));
      expect(verdicts.filter((verdict) => verdict.outcome === 'accepted')).toHaveLength(100);
      expect(server.fetches()).toBe(2);
      expect(await verify(token)).toStrictEqual({ outcome: 'refused', reason: 'unknown_key', issuer });
    });

    it('is not made to fetch by a flood of unknown keys', async () => {
      const { server, verify, clock, signWith, issuer } = world();
      const stranger = await makeKey(kind.alg);
      const flood = await Promise.all(
        Array.from({ length: 40 }, (_, n) => signWith({ ...stranger, kid: `stranger-${n}` })),
      );
      for (const token of flood) {
        expect(await verify(token)).toStrictEqual({ outcome: 'refused', reason: 'unknown_key', issuer });
        clock.advance(1_000);
      }
      expect(server.fetches()).toBe(2);
    });

    it('says unavailable, not refused, while there are no keys, and recovers', async () => {
      const { server, token, verify, clock } = world();
      server.fail(503);
      expect(await verify(token)).toMatchObject({ ...UNAVAILABLE, retryAfterMs: 1_000 });
      expect(await verify(token)).toMatchObject(UNAVAILABLE);
      expect(server.fetches()).toBe(1);
      server.recover();
      clock.advance(1_000);
      expect(await verify(token)).toMatchObject(ACCEPTED);
    });

    it('gives up a server that does not answer after the timeout', async () => {
      const { server, token, verify, clock } = world();
      server.stall();
      const verdict = verify(token);
      await expect.poll(() => server.paths().length).toBe(1);
      clock.advance(5_000);
      expect(await verdict).toMatchObject(UNAVAILABLE);
    });

    it('uses old keys while the server fails, and not beyond staleIfError', async () => {
      const { server, verify, clock, signNow } = world();
      await verify(await signNow());
      server.fail(500);
      clock.advance(600_001);
      expect(await verify(await signNow())).toMatchObject(ACCEPTED);
      expect(server.fetches()).toBe(2);
      clock.advance(3_600_000);
      expect(await verify(await signNow())).toMatchObject(UNAVAILABLE);
    });

    it('delays a known key only once while the server stalls', async () => {
      const { server, verify, clock, signNow } = world();
      await verify(await signNow());
      const before = server.paths().length;
      server.stall();
      clock.advance(600_001);
      const first = verify(await signNow());
      await expect.poll(() => server.paths().length).toBe(before + 1);
      clock.advance(5_000);
      expect(await first).toMatchObject(ACCEPTED);
      clock.advance(30_000);
      expect(await verify(await signNow())).toMatchObject(ACCEPTED);
    });

    it('does not refuse an unknown key while the server cannot say whether it is new', async () => {
      const { server, token, verify, clock, signWith } = world();
      await verify(token);
      server.fail(500);
      clock.advance(30_000);
      expect(await verify(await signWith(await makeKey(kind.alg, 'key-2')))).toMatchObject(UNAVAILABLE);
      expect(await verify(token)).toMatchObject(ACCEPTED);
    });

    it('fetches again when keys are older than cacheMaxAge, so a withdrawn key ends', async () => {
      const { server, verify, clock, signNow, issuer } = world();
      await verify(await signNow());
      server.rotate([]);
      clock.advance(600_001);
      expect(await verify(await signNow())).toStrictEqual({ outcome: 'refused', reason: 'unknown_key', issuer });
    });

    it('follows no redirect', async () => {
      const { server, token, verify } = world();
      server.fail(302, `${server.origin}/elsewhere`);
      expect(await verify(token)).toMatchObject(UNAVAILABLE);
      expect(server.paths()).not.toContain('/elsewhere');
    });

    it.each([
      ['is too large', `{"keys":[],"pad":"${'x'.repeat(1024 * 1024)}"}`],
      ['is not JSON', 'sentinel-in-the-answer'],
      ['is not a key set', '{"keys":"sentinel-in-the-answer"}'],
      ['holds a private key', '{"keys":[{"kty":"EC","crv":"P-256","d":"sentinel-in-the-answer"}]}'],
    ])('does not use an answer that %s, and does not quote it', async (_, text) => {
      const { server, token, verify, lines } = world();
      server.answer(text);
      const verdict = await verify(token);
      expect(verdict).toMatchObject(UNAVAILABLE);
      expect(lines).toHaveLength(1);
      expect(`${lines.join()} ${causeOf(verdict)}`).not.toMatch(/sentinel|xxxx/);
    });

    it('ends a fetch under way when it is closed', async () => {
      const { server, token, verify, close } = world();
      server.stall();
      const verdict = verify(token);
      await expect.poll(() => server.paths().length).toBe(1);
      await close();
      expect(await verdict).toMatchObject(UNAVAILABLE);
    });
  });
}

interface World {
  readonly issuer: string;
  readonly server: KeyServer;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly lines: readonly string[];
  /** Good at the start of the test, for an hour. */
  readonly token: string;
  readonly verify: (token: string) => Promise<Verification>;
  readonly signNow: () => Promise<string>;
  readonly signWith: (key: TestKey) => Promise<string>;
  readonly close: () => Promise<void>;
}

function openWorld(kind: RemoteKeysUnderTest): () => World {
  let opened: { world: World; end: () => Promise<void> } | undefined;
  let key: TestKey;
  beforeAll(async () => {
    key = await makeKey(kind.alg);
  });
  beforeEach(async () => {
    const [clock, log] = [fakeClock(), recordingLog()];
    const { issuer, keys, server, close } = await kind.open(key);
    const verifier = jwtVerifier(jwtOptions(issuerOptions(issuer, keys)), { clock, log });
    const signer = await makeIssuer({ issuer, key });
    const signWith = (other: TestKey) =>
      signer.sign({ exp: clock.now() / 1000 + 3_600 }, { now: clock.now(), key: other });
    const world = {
      issuer,
      server,
      clock,
      lines: log.lines,
      token: await signWith(key),
      signWith,
      signNow: () => signWith(key),
    };
    const verify: World['verify'] = (token) => verifier.verify(token);
    opened = {
      world: { ...world, verify, close: () => verifier.close() },
      end: async () => {
        await verifier.close();
        await close();
      },
    };
  });
  afterEach(() => opened?.end());
  return () => {
    if (opened === undefined) throw new Error('The world is not open');
    return opened.world;
  };
}

function causeOf(verdict: Verification): string {
  return 'cause' in verdict ? `${verdict.cause?.stack} ${String(verdict.cause?.cause)}` : '';
}
