import { describe, expect, it } from 'vitest';
import {
  insufficientScopeChallenge,
  invalidTokenChallenge,
  metadataPaths,
  metadataUrl,
  missingTokenChallenge,
  protectedResourceMetadata,
} from '../../src/auth/challenge.ts';
import { holdsScopes } from '../../src/auth/scopes.ts';

const PLAIN = {
  resource: 'https://mcp.example.com/mcp',
  requiredScopes: [],
  issuers: [{ issuer: 'https://idp.example.com/' }],
};
const SCOPED = { ...PLAIN, requiredScopes: ['mcp:use', 'mcp:read'] };
const METADATA = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';

describe('the challenge', () => {
  it('of a missing token names no error', () => {
    expect(missingTokenChallenge(PLAIN)).toBe(`Bearer ${METADATA}`);
    expect(missingTokenChallenge(SCOPED)).toBe(`Bearer ${METADATA}, scope="mcp:use mcp:read"`);
  });

  it('of a refused token says why in a fixed text', () => {
    expect(invalidTokenChallenge(PLAIN, 'expired')).toBe(
      `Bearer error="invalid_token", error_description="The token has expired", ${METADATA}`,
    );
  });

  it('of missing scopes names all that are required', () => {
    expect(insufficientScopeChallenge(SCOPED)).toBe(
      `Bearer error="insufficient_scope", error_description="The token lacks a required scope", ${METADATA}, scope="mcp:use mcp:read"`,
    );
  });

  it('stays one header whatever the configuration holds', () => {
    const odd = missingTokenChallenge({ ...PLAIN, requiredScopes: ['a"b\\c\r\nX: y'] });
    expect(odd).toBe(`Bearer ${METADATA}, scope="a\\"b\\\\cX: y"`);
  });
});

describe('the metadata of the protected resource', () => {
  it('names resource, issuers, scopes and the one way to send a token', () => {
    expect(protectedResourceMetadata(SCOPED)).toStrictEqual({
      resource: 'https://mcp.example.com/mcp',
      authorization_servers: ['https://idp.example.com/'],
      scopes_supported: ['mcp:use', 'mcp:read'],
      bearer_methods_supported: ['header'],
    });
  });

  it('leaves out what there is none of, and issuers that are no servers', () => {
    expect(protectedResourceMetadata({ ...PLAIN, issuers: [{ issuer: 'dev' }] })).toStrictEqual({
      resource: 'https://mcp.example.com/mcp',
      bearer_methods_supported: ['header'],
    });
  });

  it.each([
    ['https://h.example/mcp', 'https://h.example/.well-known/oauth-protected-resource/mcp'],
    ['https://h.example:8443/a/b/', 'https://h.example:8443/.well-known/oauth-protected-resource/a/b/'],
    ['https://h.example/', 'https://h.example/.well-known/oauth-protected-resource'],
    ['https://h.example', 'https://h.example/.well-known/oauth-protected-resource'],
    ['https://h.example/mcp?t=1', 'https://h.example/.well-known/oauth-protected-resource/mcp?t=1'],
  ])('of %s is at %s', (resource, url) => {
    expect(metadataUrl(resource)).toBe(url);
  });

  it('is served at the bare path and at the one of the resource', () => {
    expect(metadataPaths('https://h.example/')).toStrictEqual(['/.well-known/oauth-protected-resource']);
    expect(metadataPaths('https://h.example/mcp')).toStrictEqual([
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
    ]);
  });
});

describe('required scopes', () => {
  it('are all held, exactly', () => {
    expect(holdsScopes(['a', 'b'], ['b', 'a'])).toBe(true);
    expect(holdsScopes([], [])).toBe(true);
    expect(holdsScopes(['a'], ['a', 'b'])).toBe(false);
    expect(holdsScopes(['A'], ['a'])).toBe(false);
  });
});
