import { expect, onTestFinished, test } from 'vitest';
import { fakeClock } from '../../support/fake-clock.ts';
import { startGateway } from '../../support/gateway.ts';
import { type KeyServer, startKeyServer } from '../../support/key-server.ts';
import { connectRaw } from '../../support/raw-client.ts';
import { makeIssuer, makeKey } from '../../support/tokens.ts';

const jwks = (...keys: Awaited<ReturnType<typeof makeKey>>[]) =>
  keys.flatMap(({ jwk }) => (jwk === undefined ? [] : [jwk]));

async function gatewayWithKeys() {
  const [before, after] = [await makeKey('ES256', 'before'), await makeKey('ES256', 'after')];
  const keys: KeyServer = await startKeyServer(jwks(before));
  onTestFinished(() => keys.close());
  const clock = fakeClock();
  const issuer = await makeIssuer({ key: before });
  const gateway = await startGateway(
    {
      auth: {
        mode: 'jwt',
        resource: issuer.audience,
        issuers: [{ issuer: issuer.issuer, keys: { jwksUri: keys.jwksUri, cooldown: '30s' } }],
      },
      policy: 'allow-authenticated',
      limits: { connectionsPerPrincipal: 500 },
      mcpServers: {},
    },
    clock,
  );
  /** What becomes of an upgrade with a token of this key, under this name of it. */
  const come = async (key = before, kid = key.kid) => {
    const token = await issuer.sign({}, { now: clock.now(), key, header: { kid } });
    const coming = connectRaw(gateway.url, { headers: { authorization: `Bearer ${token}` } });
    return coming.then(
      () => 'accepted',
      (error: unknown) => (error instanceof Error ? error.message : 'failed'),
    );
  };
  return { before, after, keys, clock, come };
}

test('100 tokens of a rotated key are accepted once the cool-down is over, for one fetch', async () => {
  const { after, keys, clock, come } = await gatewayWithKeys();
  expect(await come()).toBe('accepted');
  keys.rotate(jwks(after));
  clock.advance(29_999);
  expect(await come(after)).toBe('HTTP 401');
  expect(keys.fetches()).toBe(1);
  clock.advance(1);
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => come(after)));
  expect(new Set(outcomes)).toEqual(new Set(['accepted']));
  expect(keys.fetches()).toBe(2);
});

test('a flood of made-up key names costs one fetch per cool-down and disturbs no known key', async () => {
  const { before, keys, clock, come } = await gatewayWithKeys();
  expect(await come()).toBe('accepted');
  for (let round = 1; round <= 3; round += 1) {
    clock.advance(30_000);
    const flood = Array.from({ length: 50 }, (_, at) => come(before, `made-up-${round}-${at}`));
    expect(await come()).toBe('accepted');
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['HTTP 401']));
    expect(keys.fetches()).toBe(1 + round);
  }
});
