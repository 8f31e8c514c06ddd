import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob, fold, matchesAnything } from '../../src/policy/glob.ts';

const exact = (pattern: string, text: string) => compileGlob(pattern, { foldCase: false })(text);
const folded = (pattern: string, text: string) => compileGlob(pattern, { foldCase: true })(text);

describe('a glob', () => {
  it.each([
    ['search/*', 'search/find', true],
    ['search/*', 'search/', true],
    ['search/*', 'search/a/b', false],
    ['search/*', 'research/a', false],
    ['search/**', 'search/a/b', true],
    ['search/**', 'search', false],
    ['**', '', true],
    ['***', 'a/b', true],
    ['*/delete_*', 'files/delete_all', true],
    ['*/delete_*', 'files/undelete_all', false],
    ['*/*', 'a/b/c', false],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'a/xb', false],
    ['a/**/**/b', 'a/b', true],
    ['a/**b', 'a/x/yb', true],
    ['file:///docs/*.md', 'file:///docs/a.md', true],
    ['file:///docs/*.md', 'file:///docs/x/a.md', false],
    ['a.c', 'abc', false],
    ['[ab]?', 'a1', false],
    ['a*', 'a\n', true],
    ['Search/*', 'search/a', false],
    ['', '', true],
    ['', 'a', false],
  ])('%j on %j: %s', (pattern, text, expected) => {
    expect(exact(pattern, text)).toBe(expected);
  });

  it('says what a naive reference says', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 9 });
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 10 });
    fc.assert(
      fc.property(letters, texts, (pattern, text) => exact(pattern, text) === reference(pattern, text)),
      { numRuns: 3_000 },
    );
  });

  it('takes no longer than pattern times text where backtracking would never end', () => {
    expect(exact('a*'.repeat(40).concat('b'), 'a'.repeat(5_000))).toBe(false);
    expect(exact('**a*'.repeat(30).concat('b'), 'a/'.repeat(5_000))).toBe(false);
  });
});

describe('folding', () => {
  it.each([
    ['*/delete_*', 'files/DELETE_all'],
    ['*/delete_*', 'files/dele\u0074e_x'],
    ['*/SEND_*', 'mail/\u017fend_now'],
    ['*/kill', 'os/\u212aill'],
    ['*/Σ*', 'x/\u03c2'],
    ['*/ΑΣ*', 'x/ασβ'],
    ['*/strasse', 'x/Straße'],
  ])('%j catches %j', (pattern, text) => {
    expect(folded(pattern, text)).toBe(true);
  });

  it('is stable and blind to case', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(fold(fold(text))).toBe(fold(text));
        expect(folded(text.replaceAll('*', ''), text.replaceAll('*', '').toUpperCase())).toBe(true);
      }),
    );
  });
});

it('knows the patterns that match everything', () => {
  expect(['**', '***', '*', '', 'a**', '**/*'].filter(matchesAnything)).toEqual(['**', '***']);
});

/** By definition: try every length a star may take. */
function reference(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const stars = /^\*+/.exec(pattern)?.[0].length ?? 0;
  if (stars === 0) {
    if (text[0] !== pattern[0]) return false;
    const segment = /^\/\*\*+\/(.*)$/s.exec(pattern)?.[1];
    return reference(pattern.slice(1), text.slice(1)) || (segment !== undefined && reference(`/${segment}`, text));
  }
  const rest = pattern.slice(stars);
  for (let length = 0; length <= text.length; length++) {
    if (stars === 1 && text.slice(0, length).includes('/')) return false;
    if (reference(rest, text.slice(length))) return true;
  }
  return false;
}
