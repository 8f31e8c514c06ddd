import { describe, expect, test } from 'vitest';
import { APP, type Asked, askTicket, browserGateway, issuer } from '../support/ticketed-gateway.ts';
import { upgrade } from '../support/upgrade-request.ts';

const gateway = browserGateway();
const OTHERS = ['https://evil.example', 'null', 'https://app.example:444', 'http://app.example', 'https://APP.example'];

/** Status and every CORS header of an answer. */
async function answered(asked: Asked) {
  const { status, headers } = await askTicket(gateway(), asked);
  const own = [...headers].filter(([name]) => name.startsWith('access-control-'));
  return { status, vary: headers.get('vary'), ...Object.fromEntries(own) };
}

const ASKING = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
const READABLE = {
  vary: 'origin',
  'access-control-allow-origin': APP,
  'access-control-expose-headers': 'retry-after, www-authenticate',
};

describe('a preflight', () => {
  test('of a page at a listed Origin is told what it may send', async () => {
    expect(await answered({ method: 'OPTIONS', origin: APP, headers: ASKING })).toEqual({
      status: 204,
      ...READABLE,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization',
      'access-control-max-age': '600',
    });
  });

  test.each(OTHERS)('of a page at %s is refused, and nobody is allowed', async (origin) => {
    expect(await answered({ method: 'OPTIONS', origin, headers: ASKING })).toEqual({ status: 403, vary: 'origin' });
  });

  test('under another Host is refused, whatever its Origin', async () => {
    const url = `${gateway().url}/tickets`;
    const plain = { upgrade: undefined, connection: 'close' };
    const headers = { ...ASKING, ...plain, origin: APP, host: 'evil.example' };
    const { status, headers: told } = await upgrade(url, { method: 'OPTIONS', headers });
    expect([status, told['access-control-allow-origin']]).toEqual([403, undefined]);
  });

  test('takes a body no more than the request itself', async () => {
    const { status } = await askTicket(gateway(), { method: 'OPTIONS', origin: APP, body: 'x'.repeat(100_000) });
    expect(status).toBe(413);
    expect(gateway().log.map(({ event }) => event)).not.toContain('upgrade_failed');
  });
});

describe('the answer to a page', () => {
  test('at a listed Origin can be read by it: the ticket and each refusal', async () => {
    const token = await issuer.sign();
    expect(await answered({ origin: APP, token })).toEqual({ status: 201, ...READABLE });
    expect(await answered({ origin: APP })).toEqual({ status: 401, ...READABLE });
    expect(await answered({ origin: APP, token: 'abc' })).toEqual({ status: 401, ...READABLE });
    expect(await answered({ origin: APP, token, query: '?ticket=x' })).toEqual({ status: 400, ...READABLE });
    expect(await answered({ origin: APP, token, body: 'x' })).toEqual({ status: 413, ...READABLE });
  });

  test.each(OTHERS)('at %s is a refusal that it cannot read', async (origin) => {
    expect(await answered({ origin, token: await issuer.sign() })).toEqual({ status: 403, vary: 'origin' });
  });

  test('to one who is no page is open to nobody', async () => {
    expect(await answered({ token: await issuer.sign() })).toEqual({ status: 201, vary: 'origin' });
  });
});

test('no other path speaks CORS', async () => {
  const base = gateway().url.replace('ws:', 'http:');
  for (const path of ['', '/tickets/', '/other']) {
    const { status, headers } = await fetch(`${base}${path}`, {
      method: 'OPTIONS',
      headers: { origin: APP, ...ASKING },
    });
    expect([status >= 400, headers.get('access-control-allow-origin')]).toEqual([true, null]);
  }
});
