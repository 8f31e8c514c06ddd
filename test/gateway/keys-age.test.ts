import { expect, onTestFinished, test } from 'vitest';
import { startKeyServer } from '../support/key-server.ts';
import { connectRaw } from '../support/raw-client.ts';
import { tokenGateway } from '../support/token-gateway.ts';
import { makeIssuer, makeKey } from '../support/tokens.ts';

/** The clock of the gateway begins at 2030-01-01T00:00:00Z. */
const BEGAN = 1_893_456_000;
const MAX_AGE = 'mcp_gateway_keys_max_age_seconds{issuer="https://idp.example.com/"} 300';
/** What the scrape says of the one issuer whose keys are fetched. */
const shown = (fetchedAt: number, isGood: 0 | 1) => [
  `mcp_gateway_keys_fetched_timestamp_seconds{issuer="https://idp.example.com/"} ${fetchedAt}`,
  MAX_AGE,
  `mcp_gateway_keys_last_fetch_successful{issuer="https://idp.example.com/"} ${isGood}`,
];

async function setting() {
  const key = await makeKey('ES256', 'key-1');
  const keys = await startKeyServer(key.jwk === undefined ? [] : [key.jwk]);
  onTestFinished(() => keys.close());
  const [fetched, secret] = [await makeIssuer({ key }), await makeIssuer({ issuer: 'https://other.example.com/' })];
  const issuers = [
    { issuer: fetched.issuer, keys: { jwksUri: keys.jwksUri, cacheMaxAge: '5m' } },
    { issuer: secret.issuer, keys: { secret: secret.secret } },
  ];
  const { url, clock, metrics } = await tokenGateway({ auth: { issuers } });
  const ages = async () => (await metrics()).split('\n').filter((line) => line.startsWith('mcp_gateway_keys_'));
  const ask = async () => {
    const token = await fetched.sign({ exp: clock.now() / 1000 + 60 }, { now: clock.now() });
    const client = await connectRaw(url, { headers: { authorization: `Bearer ${token}` } });
    client.socket.close();
    return (await client.closed).code;
  };
  return { keys, clock, ages, ask };
}

test('when keys were fetched is shown beside how old they are meant to become; keys that are not fetched have no age', async () => {
  const { keys, clock, ages, ask } = await setting();
  expect(await ages()).toEqual(shown(0, 1));
  clock.advance(10_000);
  expect(await ask()).toBe(1005);
  expect(await ages()).toEqual(shown(BEGAN + 10, 1));
  keys.fail(500);
  clock.advance(301_000);
  expect(await ask()).toBe(1005);
  expect(keys.fetches()).toBe(2);
  expect(await ages()).toEqual(shown(BEGAN + 10, 0));
  keys.recover();
  clock.advance(30_000);
  expect(await ask()).toBe(1005);
  await expect.poll(ages).toEqual(shown(BEGAN + 341, 1));
});
