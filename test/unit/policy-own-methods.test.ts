import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob, mayBeginWith } from '../../src/policy/glob.ts';
import { concernsOwnMethod } from '../../src/policy/own-methods.ts';

const SCHEMAS = resolve('test/conformance/schema');

/** Every method a revision's schema names. */
function methodsOf(revision: string): string[] {
  const text = readFileSync(resolve(SCHEMAS, revision), 'utf8');
  return [...text.matchAll(/"method":\s*\{\s*"const":\s*"([^"]+)"/g)].map(([, method]) => String(method));
}

describe('no vendor is given', () => {
  const revisions = readdirSync(SCHEMAS).filter((name) => name.endsWith('.json'));

  test.each(revisions)('a method of %s', (revision) => {
    const methods = methodsOf(revision);
    expect(methods).toContain('tools/call');
    expect(methods.filter((method) => !concernsOwnMethod(method))).toEqual([]);
  });

  test.each([
    '*',
    '**',
    '*/*',
    'tools/*',
    'tools/**',
    'TOOLS/*',
    't*s/call',
    'p*',
    'initialize',
    'PING',
    'server/discover',
    'subscriptions/*',
    'notifications/acme',
    'notifications/acme/*',
    'n*/acme',
    '**/acme',
    'tasks/get',
    'tasks/anything',
    'tasks/**',
    'rpc.discover',
    'rpc.*',
    'r*',
    'RPC.x',
    '*.acme',
    '*-acme/x',
    'ws-gateway/refreshToken',
    'ws-gateway/*',
    'WS-Gateway/x',
    'ws*/acme',
  ])('%j', (glob) => {
    expect(concernsOwnMethod(glob)).toBe(true);
  });
});

test.each([
  'acme/*',
  'acme/**',
  'acme/thing',
  'a*/thing',
  'acme/tools/list',
  'tools/acme',
  'toolset/*',
  'notification/*',
  'rpc/thing',
  'x-*',
])('a vendor may be given %s', (glob) => {
  expect(concernsOwnMethod(glob)).toBe(false);
});

describe('a glob and a beginning', () => {
  const letters = (...units: readonly string[]) => fc.string({ unit: fc.constantFrom(...units), maxLength: 6 });

  test('meet where a text that matches begins so', () => {
    fc.assert(
      fc.property(letters('a', 'b', '/', '*'), letters('a', 'b', '/'), letters('a', 'b', '/'), (glob, prefix, rest) => {
        fc.pre(compileGlob(glob, { foldCase: false })(prefix + rest));
        expect(mayBeginWith(glob, prefix)).toBe(true);
      }),
    );
  });

  test('meet nowhere else', () => {
    const texts = allTexts(['a', 'b', '/'], 6);
    fc.assert(
      fc.property(
        letters('a', 'b', '/', '*').filter((glob) => glob.length <= 4),
        fc.constantFrom(...allTexts(['a', 'b', '/'], 2)),
        (glob, prefix) => {
          const matches = compileGlob(glob, { foldCase: false });
          const met = texts.some((text) => text.startsWith(prefix) && matches(text));
          expect(mayBeginWith(glob, prefix)).toBe(met);
        },
      ),
    );
  });

  function allTexts(units: readonly string[], length: number): string[] {
    if (length === 0) return [''];
    const shorter = allTexts(units, length - 1);
    return [
      ...shorter,
      ...shorter.filter((text) => text.length === length - 1).flatMap((text) => units.map((unit) => text + unit)),
    ];
  }
});
