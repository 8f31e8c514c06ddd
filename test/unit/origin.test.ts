import { describe, expect, it } from 'vitest';
import { defaultHosts, hostAllowed, originAllowed } from '../../src/policy/origin.ts';

describe('Origin', () => {
  const listed = ['https://app.example.com', 'null'];

  it('passes when there is none, for clients that are no browser', () => {
    expect(originAllowed(undefined, [])).toBe(true);
  });

  it('passes when listed, exactly', () => {
    expect(originAllowed('https://app.example.com', listed)).toBe(true);
  });

  it.each([
    'null',
    '',
    '*',
    'https://app.example.com/',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://APP.example.com',
    'https://app.example.com.evil.net',
  ])('%j does not pass', (origin) => {
    expect(originAllowed(origin, listed)).toBe(false);
  });
});

describe('Host', () => {
  const listed = ['mcp.example.com', 'localhost', '[::1]', 'fixed.example.com:8443'];

  it.each([
    'mcp.example.com',
    'MCP.example.com',
    'mcp.example.com:8080',
    '[::1]',
    '[::1]:8080',
    'localhost:1',
    'fixed.example.com:8443',
  ])('%j passes', (host) => {
    expect(hostAllowed(host, listed)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'evil.net',
    'mcp.example.com.evil.net',
    'mcp.example.com@evil.net',
    'evil.net#mcp.example.com',
    'mcp.example.com:',
    'mcp.example.com:99999',
    'mcp.example.com:80:80',
    'mcp.example.com, evil.net',
    ' mcp.example.com',
    '::1',
    '[::1',
    'fixed.example.com',
    'fixed.example.com:443',
  ])('%j does not pass', (host) => {
    expect(hostAllowed(host, listed)).toBe(false);
  });

  it('opens with *, though not for a malformed one', () => {
    expect(hostAllowed('any.example.org:1', ['*'])).toBe(true);
    expect(hostAllowed(undefined, ['*'])).toBe(true);
    expect(hostAllowed('a b', ['*'])).toBe(false);
  });

  it('does not pass a malformed entry and a malformed host as equal', () => {
    expect(hostAllowed('::1', ['::1'])).toBe(false);
  });
});

describe('the default hosts', () => {
  it.each([
    ['127.0.0.1', ['mcp.example.com', 'localhost', '127.0.0.1', '[::1]']],
    ['::1', ['mcp.example.com', 'localhost', '127.0.0.1', '[::1]']],
    ['localhost', ['mcp.example.com', 'localhost', '127.0.0.1', '[::1]']],
    ['0.0.0.0', ['mcp.example.com']],
    ['127.0.0.1.evil.net', ['mcp.example.com']],
  ])('listening on %s', (listenHost, expected) => {
    expect(defaultHosts({ resource: 'https://mcp.example.com:8443/mcp', listenHost })).toEqual(expected);
  });

  it('without a resource, and with one on loopback', () => {
    expect(defaultHosts({ resource: undefined, listenHost: '127.0.0.1' })).toEqual(['localhost', '127.0.0.1', '[::1]']);
    expect(defaultHosts({ resource: null, listenHost: '10.0.0.1' })).toEqual([]);
    expect(defaultHosts({ resource: 'http://127.0.0.1:8080/mcp', listenHost: '127.0.0.1' })).toEqual([
      '127.0.0.1',
      'localhost',
      '[::1]',
    ]);
  });
});
