import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { citationsOf } from './citations.ts';
import { EVIDENCE } from './evidence.ts';
import { boundBy, readProtocolPage } from './protocol-page.ts';
import { REQUIREMENTS } from './requirements.ts';

const tests = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(tests, path), 'utf8');
const page = readProtocolPage(read('../docs/PROTOCOL.md'));
const known = new Set(REQUIREMENTS.map(({ id }) => id));
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
const verified = files
  .filter((path) => path.endsWith('.test.ts'))
  .flatMap((path) => citationsOf(read(join('conformance', path))).verified);
const evidence = EVIDENCE.map(([id, file, ...titles]) => ({ id, file, titles }));
const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

describe('docs/PROTOCOL.md and the requirements', () => {
  test('state the same obligations, in the same words, under the same headings', () => {
    const stated = page.obligations.map((obligation) => ({ ...obligation, by: boundBy(obligation.sentence) }));
    expect(stated.length).toBeGreaterThan(60);
    expect(stated.toSorted(byId)).toEqual(REQUIREMENTS.toSorted(byId));
  });

  test('give each id once', () => {
    const ids = page.obligations.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  test('bind nobody without an id', () => {
    expect(page.stray).toEqual([]);
  });

  test('name in walk-throughs only what is stated', () => {
    expect(page.cited.length).toBeGreaterThan(20);
    expect(page.cited.filter((id) => !known.has(id))).toEqual([]);
  });
});

describe('the tests', () => {
  test('prove every obligation of the gateway', () => {
    const proven = new Set([...verified, ...evidence.map(({ id }) => id)]);
    const bare = REQUIREMENTS.filter(({ id, by }) => by === 'gateway' && !proven.has(id));
    expect(bare.map(({ id }) => id)).toEqual([]);
  });

  test('cite only what is stated', () => {
    expect(verified.length).toBeGreaterThan(10);
    expect([...verified, ...evidence.map(({ id }) => id)].filter((id) => !known.has(id))).toEqual([]);
  });

  test('that are named as evidence are there and run; where several have one title, all are meant', () => {
    const wrong = evidence.flatMap(({ id, file, titles }) => {
      const there = new Set(citationsOf(read(file)).titles);
      return titles.filter((title) => !there.has(title)).map((title) => `${id}: ${title}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('reading a page', () => {
  const of = (line: string) => readProtocolPage(`## Frames\n\n${line}\n`);

  test('finds an obligation with its heading', () => {
    const sentence = 'The gateway MUST NOT do it.';
    expect(of(`* \`a.b-c\` ${sentence}`).obligations).toEqual([{ id: 'a.b-c', section: 'Frames', sentence }]);
  });

  test.each(['The client SHOULD wait.', '* The gateway MUST wait.', '* `a.B` The gateway MUST wait.'])(
    'finds a key word without an id: %s',
    (line) => {
      expect(of(line)).toEqual({ obligations: [], stray: [line], cited: [] });
    },
  );

  test('finds ids in brackets, which links are not', () => {
    expect(of('first [a.b], then [c.d](c.d) and [e.f]').cited).toEqual(['a.b', 'e.f']);
  });

  test.each([
    ['The gateway MUST wait.', 'gateway'],
    ['The client SHOULD NOT wait.', 'client'],
    ['The gateway may wait.', undefined],
    ['A gateway MUST wait.', undefined],
    ['The gateway MUST wait', undefined],
    ['The gateway MUST wait and SHOULD hope.', undefined],
  ])('knows whom a sentence binds: %s', (sentence, by) => {
    expect(boundBy(sentence)).toBe(by);
  });
});

describe('reading a test file', () => {
  test('finds titles, of tables too, and not those that do not run', () => {
    const source = `test('a', f); it.each([1])('b %s', f); describe('c', () => { test.concurrent('d', f); });
      test.skip('e', f); test.each([1]).skip('f', f); it.todo('g'); test.skipIf(true)('h', f); other('i', f);`;
    expect(citationsOf(source).titles).toEqual(['a', 'b %s', 'd']);
  });

  test('finds the ids that it verifies, one or several', () => {
    const source = `verifies('a.b', 'one', f); for (const x of y) verifies(['c.d', 'e.f'], \`more \${x}\`, f);`;
    expect(citationsOf(source).verified).toEqual(['a.b', 'c.d', 'e.f']);
  });

  test('refuses an id that cannot be read', () => {
    expect(() => citationsOf('verifies(id, "one", f)')).toThrow('no literal');
  });
});
