import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import { startKeyServer } from '../../support/key-server.ts';
import { connectRaw } from '../../support/raw-client.ts';
import { makeIssuer, secretKey, unsignedToken } from '../../support/tokens.ts';

test('no algorithm, and HS256 under the text of the public key, are refused 401 before the upgrade', async () => {
  const issuer = await makeIssuer({ alg: 'RS256' });
  const keys = await startKeyServer([...issuer.jwks.keys]);
  onTestFinished(() => keys.close());
  const gateway = await startGateway({
    auth: {
      mode: 'jwt',
      resource: issuer.audience,
      issuers: [{ issuer: issuer.issuer, keys: { jwksUri: keys.jwksUri } }],
    },
    policy: 'allow-authenticated',
    mcpServers: {},
  });
  const come = (token: string) => connectRaw(gateway.url, { headers: { authorization: `Bearer ${token}` } });
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer.issuer, aud: issuer.audience, sub: 'mallory', iat: now, exp: now + 300 };
  await expect(come(unsignedToken(claims))).rejects.toThrow('HTTP 401');
  const pem = issuer.key.pem ?? '';
  for (const text of [pem, pem.trim(), JSON.stringify(issuer.key.jwk), issuer.key.jwk?.n ?? '']) {
    const forged = await issuer.sign({ sub: 'mallory' }, { key: secretKey(text, issuer.key.kid) });
    await expect(come(forged)).rejects.toThrow('HTTP 401');
  }
  const client = await come(await issuer.sign());
  expect(await client.initialize()).toHaveProperty('result.protocolVersion', '2025-11-25');
});
