import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesTemplate } from '../../src/protocol/uri-template.ts';

describe('a URI of a template', () => {
  it.each([
    ['file:///docs/{name}', 'file:///docs/a.md'],
    ['file:///{+path}', 'file:///a/b?c#d'],
    ['a://x{#part}', 'a://x#y/z'],
    ['a://x{#part}', 'a://x'],
    ['a://x{/seg}', 'a://x/one'],
    ['a://x{/seg*}', 'a://x/one/two'],
    ['a://x{/seg*}', 'a://x'],
    ['a://x{/one,two}', 'a://x/1/2'],
    ['a://x{.kind}', 'a://x.json'],
    ['a://x{.kind*}', 'a://x.tar.gz'],
    ['a://x{?q}', 'a://x?q=1'],
    ['a://x{?q,r*}', 'a://x'],
    ['a://x?fixed=1{&more}', 'a://x?fixed=1&more=2'],
    ['a://x{;p}', 'a://x;p=1'],
    ['a://{x:3}/{y}', 'a://abc/d'],
    ['{scheme}://{host}{/path*}{?q}', 'db://h/a/b?q=1'],
    ['a://{x}{y}', 'a://12'],
    ['a://%41{my.var_1}', 'a://%41z'],
    ['plain', 'plain'],
  ])('%s: %s', (template, uri) => {
    expect(matchesTemplate(template, uri)).toBe(true);
  });

  it.each([
    ['file:///docs/{name}', 'file:///docs/'],
    ['file:///docs/{name}', 'file:///docs/a/b'],
    ['file:///docs/{name}', 'file:///docs/a?b'],
    ['file:///docs/{name}', 'file:///docs/a#b'],
    ['file:///docs/{name}', 'file:///docsX/a'],
    ['file:///docs/{name}', 'xfile:///docs/a'],
    ['file:///{+path}', 'file:///'],
    ['a://x{/seg}', 'a://x/one/two'],
    ['a://x{/seg}', 'a://x'],
    ['a://x{.kind}', 'a://x.tar.gz'],
    ['a://x{?q}', 'a://x&q=1'],
    ['a://x{?q}', 'a://x?q#f'],
    ['a://{x}{y}', 'a://1'],
    ['a.c', 'abc'],
  ])('%s: not %s', (template, uri) => {
    expect(matchesTemplate(template, uri)).toBe(false);
  });

  it.each(['a{', 'a}', 'a{}', 'a{x', 'a{x}}', 'a{{x}}', 'a{!x}', 'a{x y}', 'a{x,}', 'a{x:0}', 'a{+}'])(
    'the malformed %s matches nothing, not even its own text',
    (template) => {
      expect(matchesTemplate(template, template)).toBe(false);
      expect(matchesTemplate(template, 'ab')).toBe(false);
    },
  );
});

it('matches every expansion', () => {
  const value = fc.string({ minLength: 1 }).map(encodeURIComponent);
  fc.assert(
    fc.property(value, value, fc.array(value), (a, b, rest) => {
      const uri = `db://${a}/rows/${b}${rest.map((item) => `/${item}`).join('')}?q=${a}`;
      expect(matchesTemplate('db://{table}/rows/{id}{/rest*}{?q}', uri)).toBe(true);
    }),
  );
});

it('matches only itself where there is no expression', () => {
  const text = fc.string().map((raw) => raw.replace(/[{}]/g, ''));
  fc.assert(fc.property(text, text, (template, uri) => matchesTemplate(template, uri) === (template === uri)));
});

it('does not blow up on hostile templates, and bounds what it looks at', () => {
  expect(matchesTemplate(`${'{+a}'.repeat(60)}!`, 'a'.repeat(4_000))).toBe(false);
  expect(matchesTemplate('{+value}', 'a'.repeat(125_000))).toBe(true);
  expect(matchesTemplate('{+value}', 'a'.repeat(125_001))).toBe(false);
});
