import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, startAdminGateway } from '../support/admin-gateway.ts';
import { accepted, fileWith } from '../support/config-fixtures.ts';
import { failToServe } from '../support/serving.ts';

const OTHER = 'another-admin-token-of-the-tests-9876543210';
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const CHANGE = { kind: 'tools' };
/** Files are looked at once a second, and two looks must agree. */
const WITHIN = { timeout: 10_000, interval: 100 };

test('a token that is written anew takes the place of the old one', async () => {
  const gateway = await startAdminGateway();
  const status = async (token: string) => (await gateway.tell(CHANGE, bearer(token))).status;
  expect([await status(ADMIN_TOKEN), await status(OTHER)]).toEqual([202, 401]);
  writeFileSync(gateway.tokenFile, `\n  ${OTHER}\n`);
  await expect.poll(() => status(OTHER), WITHIN).toBe(202);
  expect(await status(ADMIN_TOKEN)).toBe(401);
  expect(gateway.log).toContainEqual({ level: 'info', event: 'admin_token_reloaded', fields: {} });
});

test.each([
  ['is too short', (path: string) => writeFileSync(path, 'canary')],
  ['is gone', (path: string) => rmSync(path)],
])('a token that %s changes nothing, and the log says so', async (_what, spoil) => {
  const gateway = await startAdminGateway();
  spoil(gateway.tokenFile);
  const failed = () => gateway.log.filter(({ event }) => event === 'admin_token_reload_failed');
  await expect.poll(failed, WITHIN).toHaveLength(1);
  expect(await gateway.tell(CHANGE)).toMatchObject({ status: 202 });
  expect(String(failed()[0]?.fields.err)).not.toContain('canary');
});

describe('a gateway does not start, and says why in one sentence,', () => {
  const MUST = 'must be 32 to 4096 of A-Z, a-z, 0-9 and -._~+/, maybe with = behind them (admin.tokenFile)';

  test.each([
    ['empty', ''],
    ['of 31 characters', 'canary-canary-canary-canary-can'],
    ['of several words', 'canary canary canary canary canary canary'],
    ['of 4097 characters', 'canary-'.padEnd(4097, 'x')],
  ])('when the token is %s', async (_what, token) => {
    const tokenFile = fileWith('admin-token', token);
    expect(await failToServe({ admin: { port: 0, tokenFile } })).toEqual({
      code: 1,
      stderr: expect.stringContaining(`the token in ${tokenFile} ${MUST}\n`),
    });
  });

  test('when there is no such file', async () => {
    const tokenFile = join(dirname(fileWith('x', '')), 'none');
    expect(await failToServe({ admin: { port: 0, tokenFile } })).toEqual({
      code: 1,
      stderr: expect.stringContaining(`the token file ${tokenFile} cannot be read: ENOENT (admin.tokenFile)\n`),
    });
  });
});

test('the file is looked for beside the configuration', () => {
  const config = accepted('auth: { mode: anonymous }\nadmin: { port: 9465, tokenFile: run/token }\n');
  expect(config.admin).toEqual({ host: '127.0.0.1', port: 9465, tokenFile: '/srv/run/token' });
});
