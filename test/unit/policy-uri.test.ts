import { describe, expect, it } from 'vitest';
import { hasOneReading, schemeOf, templateHasOneReading } from '../../src/policy/uri.ts';

describe('a URI of one reading', () => {
  it.each([
    'file:///docs/a.md',
    'https://example.com/a?b=c%20d#e',
    'demo://resource/static/1',
    'note:plain',
    'timezone://info',
    'file:///100%25',
    'file:///a%20b',
    'db://rows/a%3Fb',
    'file:///docs/..hidden/...',
    'file:///docs/a%2520b',
  ])('%s', (uri) => {
    expect(hasOneReading(uri)).toBe(true);
  });

  it.each([
    ['dot segments', 'file:///docs/../etc/passwd'],
    ['a dot segment at the end', 'db://rows/..'],
    ['dot segments in an opaque path', 'note:a/../b'],
    ['dot segments in a query', 'db://rows?path=x/../y'],
    ['a dot segment with a parameter', 'db://rows/..;x/y'],
    ['a backslash', 'db://rows\\x'],
    ['a backslash in an opaque path', 'note:a\\b'],
    ['an encoded dot', 'db://rows/%2e%2E/x'],
    ['an encoded slash', 'db://rows/a%2Fb'],
    ['an encoded backslash', 'db://rows/a%5cb'],
    ['an encoded letter', 'file:///etc/p%61sswd'],
    ['twice encoded', 'db://rows/%252e%252e'],
    ['thrice encoded', 'db://rows/a%25252Fb'],
    ['an encoded NUL', 'db://rows/a%00.txt'],
    ['a lone percent', 'db://rows/100%'],
    ['an upper case scheme', 'FILE:///docs/a.md'],
    ['an upper case host', 'https://EXAMPLE.com/a'],
    ['a default port', 'https://example.com:443/a'],
    ['a missing path', 'https://example.com'],
    ['a missing authority', 'file:/docs/a.md'],
    ['a needless host', 'file://localhost/docs/a.md'],
    ['a doubled slash in a file path', 'file:///docs//a.md'],
    ['a doubled slash at its start', 'file:////docs/a.md'],
    ['white space', ' file:///docs/a.md'],
    ['a tab', 'fi\tle:///docs/a.md'],
    ['a character to be encoded', 'file:///docs/ä.md'],
    ['no scheme', 'docs/a.md'],
    ['nothing', ''],
  ])('not with %s', (_, uri) => {
    expect(hasOneReading(uri)).toBe(false);
  });
});

it.each([
  ['file:///docs/{name}', true],
  ['db://{table}/rows{/id*}{?limit}', true],
  ['file:///docs/../{name}', false],
  ['file:///{name', false],
  ['{+uri}', false],
  ['file:///docs/%2e%2e/{name}', false],
])('the template %s: %s', (template, expected) => {
  expect(templateHasOneReading(template)).toBe(expected);
});

it.each([
  ['File:///x', 'file'],
  ['a+b.c-1:x', 'a+b.c-1'],
  [' file:x', undefined],
  ['no scheme', undefined],
])('the scheme of %j is %s', (text, expected) => {
  expect(schemeOf(text)).toBe(expected);
});
