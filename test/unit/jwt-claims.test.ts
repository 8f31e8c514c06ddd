import { describe, expect, it } from 'vitest';
import { jwtVerifier } from '../../src/auth/jwt.ts';
import type { IssuerOptions } from '../../src/auth/jwt-options.ts';
import { issuerOptions, jwtOptions, recordingLog } from '../kits/verifier-kit.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { makeIssuer, type TestClaims } from '../support/tokens.ts';

const NOW = fakeClock().now() / 1000;
const DAY = 86_400;

/** What the verifier says to a good token with these claims, under this change of the issuer's options. */
async function judge(claims: TestClaims, change: Partial<IssuerOptions> = {}) {
  const idp = await makeIssuer();
  const options = jwtOptions(issuerOptions(idp.issuer, { secret: idp.secret }, change));
  const verifier = jwtVerifier(options, { clock: fakeClock(), log: recordingLog() });
  return verifier.verify(await idp.sign(claims, { now: NOW * 1000 }));
}

async function reasonFor(claims: TestClaims, change: Partial<IssuerOptions> = {}) {
  const verdict = await judge(claims, change);
  return verdict.outcome === 'refused' ? verdict.reason : verdict.outcome;
}

async function grantsFor(claims: TestClaims, change: Partial<IssuerOptions> = {}) {
  const verdict = await judge(claims, change);
  return verdict.outcome === 'accepted' ? { roles: verdict.identity.roles, scopes: verdict.identity.scopes } : verdict;
}

describe('time', () => {
  it.each([
    ['exp is text', { exp: '2099-01-01' }, 'no_expiry'],
    ['exp is beyond what a number of milliseconds holds', { exp: 1e308, iat: undefined }, 'life_too_long'],
    ['exp is at the edge of the tolerance', { iat: undefined, exp: NOW - 30 }, 'expired'],
    ['nbf is text', { nbf: 'now' }, 'malformed'],
    ['iat is text', { iat: 'now' }, 'malformed'],
    ['life is exactly the longest', { exp: NOW + DAY }, 'accepted'],
    ['life is one second longer', { iat: NOW - 1, exp: NOW + DAY }, 'life_too_long'],
    ['no iat, within tolerance', { iat: undefined, exp: NOW + DAY + 30 }, 'accepted'],
    ['no iat, too far', { iat: undefined, exp: NOW + DAY + 31 }, 'life_too_long'],
    ['iat in the future hides a far expiry', { iat: NOW + 365 * DAY, exp: NOW + 365 * DAY + 60 }, 'life_too_long'],
  ])('%s', async (_, claims, expected) => {
    expect(await reasonFor(claims)).toBe(expected);
  });
});

describe('audience', () => {
  const byClaim = { audience: { claim: 'client_id', values: ['abc', 'def'] } };
  it.each([
    ['one of a list', { aud: ['https://x.example', 'https://mcp.example.com/mcp'] }, {}, 'accepted'],
    ['only a prefix of ours', { aud: 'https://mcp.example.com' }, {}, 'wrong_audience'],
    ['no text', { aud: { 0: 'https://mcp.example.com/mcp' } }, {}, 'wrong_audience'],
    ['configured, so the resource is none', {}, { audience: ['other'] }, 'wrong_audience'],
    ['configured', { aud: 'other' }, { audience: ['other', 'more'] }, 'accepted'],
    ['by a claim, none of its own', { aud: undefined, client_id: 'def' }, byClaim, 'accepted'],
    ['by a claim that differs', { aud: undefined, client_id: 'xyz' }, byClaim, 'wrong_audience'],
    ['by a claim that is missing', { aud: undefined }, byClaim, 'wrong_audience'],
    ['by a claim, but an aud names another', { aud: 'https://x.example', client_id: 'abc' }, byClaim, 'wrong_audience'],
    ['by a claim, and an aud names us', { client_id: 'abc' }, byClaim, 'accepted'],
  ])('%s', async (_, claims, change, expected) => {
    expect(await reasonFor(claims, change)).toBe(expected);
  });
});

describe('required claims', () => {
  const require = { token_use: 'access', azp: ['a', 'b'], level: 2, mfa: true };
  const good = { token_use: 'access', azp: 'b', level: 2, mfa: true };
  it.each([
    ['all as required', good, 'accepted'],
    ['one missing', { ...good, token_use: undefined }, 'missing_claim'],
    ['one of another value', { ...good, token_use: 'id' }, 'missing_claim'],
    ['none of the list', { ...good, azp: 'c' }, 'missing_claim'],
    ['a number as text', { ...good, level: '2' }, 'missing_claim'],
    ['a list that holds the value', { ...good, token_use: ['access'] }, 'missing_claim'],
  ])('%s', async (_, claims, expected) => {
    expect(await reasonFor(claims, { require })).toBe(expected);
  });
});

describe('who it is', () => {
  const uid = { id: ['user', 'id'], roles: 'roles', scopes: 'scope' };
  it.each([
    ['no sub', { sub: undefined }, {}, 'no_subject'],
    ['an empty one', { sub: '' }, {}, 'no_subject'],
    ['a number', { sub: 7 }, {}, 'no_subject'],
    ['one of 1,024 units', { sub: 'x'.repeat(1024) }, {}, 'accepted'],
    ['a longer one', { sub: 'x'.repeat(1025) }, {}, 'no_subject'],
    ['at a path', { sub: undefined, user: { id: 'bob' } }, { claims: uid }, 'accepted'],
    ['at a path that ends early', { user: 'bob' }, { claims: uid }, 'no_subject'],
  ])('%s', async (_, claims, change, expected) => {
    expect(await reasonFor(claims, change)).toBe(expected);
  });
});

describe('roles and scopes are always lists of text', () => {
  const path = (roles: string | readonly string[]) => ({ claims: { id: 'sub', roles, scopes: 'scope' } });
  it.each([
    ['absent', {}, {}, { roles: [], scopes: [] }],
    ['text: one role, scopes apart', { roles: 'a b', scope: 'x  y x' }, {}, { roles: ['a b'], scopes: ['x', 'y'] }],
    ['lists', { roles: ['a', 'b', 'a'], scope: ['x', 'y z'] }, {}, { roles: ['a', 'b'], scopes: ['x', 'y z'] }],
    ['other kinds hold none', { roles: [1, null, 'a', ['b']], scope: 7 }, {}, { roles: ['a'], scopes: [] }],
    ['at a path', { realm_access: { roles: ['a'] } }, path(['realm_access', 'roles']), { roles: ['a'], scopes: [] }],
    [
      'a literal name with dots',
      { 'https://x.example/roles': 'a' },
      path('https://x.example/roles'),
      { roles: ['a'], scopes: [] },
    ],
    [
      'renamed, then filtered',
      { roles: ['idp-admin', 'staff', 'constructor'] },
      { roles: { map: { 'idp-admin': 'admin' }, allowed: ['admin', 'constructor'] } },
      { roles: ['admin', 'constructor'], scopes: [] },
    ],
    ['none allowed', { roles: ['a'] }, { roles: { map: {}, allowed: [] } }, { roles: [], scopes: [] }],
  ])('%s', async (_, claims, change, expected) => {
    expect(await grantsFor(claims, change)).toStrictEqual(expected);
  });
});
