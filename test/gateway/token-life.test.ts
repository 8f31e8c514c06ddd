import { expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { makeIssuer } from '../support/tokens.ts';

const issuer = await makeIssuer();
const heard = recordFile();
const gateway = fileGateway({
  auth: {
    mode: 'jwt',
    resource: issuer.audience,
    clockTolerance: '0s',
    expiryGrace: '2s',
    issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
  },
  policy: 'allow-authenticated',
  mcpServers: { up: stdioUpstream('plain.mjs', [heard.path], { isolation: 'shared' }) },
});

/** A client whose token ends in `seconds`, within the second. */
async function openFor(seconds: number) {
  const token = await issuer.sign({ exp: Math.ceil(Date.now() / 1000) + seconds });
  return openRaw(gateway().url, { headers: { authorization: `Bearer ${token}` } });
}
const EXPIRED = { code: 4401, reason: 'unauthenticated' };

test('an idle socket is closed 4401 when its token expires; one with a call in flight when that is answered', async () => {
  const lasting = await openFor(300);
  const idle = await openFor(2);
  const busy = await openFor(2);
  busy.send(toolCall(1, 'up__hold', { key: 'busy' }));
  await expect.poll(() => heard.lines()).toContain('holding busy');
  expect(await idle.closed).toEqual(EXPIRED);
  expect(await busy.ask(toolCall(2, 'up__echo', { text: 'new' }))).toEqual(
    errorAnswer(2, -32600, 'The token has expired'),
  );
  lasting.send(toolCall(1, 'up__release', { key: 'busy' }));
  expect(await busy.json()).toEqual(textAnswer(1, 'busy'));
  expect(await busy.closed).toEqual(EXPIRED);
  expect(await lasting.json()).toEqual(textAnswer(1, 'released'));
});

test('a call that outlasts the grace ends in an error, its upstream is told, then the socket is closed 4401', async () => {
  const busy = await openFor(1);
  busy.send(toolCall(1, 'up__wait'));
  busy.send(toolCall('1', 'up__wait'));
  const error = { reason: 'timeout', retryable: false };
  expect([await busy.json(), await busy.json()]).toEqual([
    errorAnswer(1, -32603, 'The upstream did not answer in time', error),
    errorAnswer('1', -32603, 'The upstream did not answer in time', error),
  ]);
  expect(await busy.closed).toEqual(EXPIRED);
  await expect.poll(() => heard.lines().filter((line) => line.startsWith('cancelled'))).toHaveLength(2);
});
