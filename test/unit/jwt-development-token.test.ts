import { describe, expect, it } from 'vitest';
import { signDevelopmentToken } from '../../src/auth/development-token.ts';
import { jwtVerifier } from '../../src/auth/jwt.ts';
import type { Audience, IssuerOptions } from '../../src/auth/jwt-options.ts';
import { issuerOptions, jwtOptions, recordingLog } from '../kits/verifier-kit.ts';
import { fakeClock } from '../support/fake-clock.ts';

const SECRET = 'development-secret-of-32-bytes-ok';
const plain = { claims: { id: 'sub', roles: 'roles', scopes: 'scope' } };
const nested = { claims: { id: ['user', 'id'], roles: ['user', 'roles'], scopes: 'https://x.example/scope' } };

describe('a development token', () => {
  it.each<[string, Partial<IssuerOptions> & { claims: IssuerOptions['claims'] }, Audience]>([
    ['with the usual claims', plain, ['https://mcp.example.com/mcp']],
    ['with claims at paths', nested, ['https://mcp.example.com/mcp']],
    ['with another claim for the audience', plain, { claim: 'client_id', values: ['abc'] }],
    [
      'with required claims',
      { ...plain, require: { token_use: 'access', azp: ['a', 'b'] } },
      ['https://mcp.example.com/mcp'],
    ],
  ])('%s is accepted by the issuer it was made for', async (_, change, audience) => {
    const issuer = issuerOptions('dev', { secret: SECRET }, { ...change, audience });
    const clock = fakeClock();
    const token = await signDevelopmentToken({
      issuer: 'dev',
      audience,
      secret: SECRET,
      id: 'alice',
      roles: ['admin', 'dev'],
      scopes: ['a', 'b'],
      lifeSeconds: 60,
      claims: issuer.claims,
      require: issuer.require,
      now: clock.now(),
    });
    const verifier = jwtVerifier(jwtOptions(issuer), { clock, log: recordingLog() });
    expect(await verifier.verify(token)).toMatchObject({
      outcome: 'accepted',
      identity: {
        issuer: 'dev',
        id: 'alice',
        roles: ['admin', 'dev'],
        scopes: ['a', 'b'],
        expiresAt: clock.now() + 60_000,
      },
    });
  });
});
