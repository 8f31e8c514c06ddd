import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CelValue, celFromJson, celFromValue } from '../../src/policy/cel-value.ts';

it('keeps integers as they are written, and nothing else', () => {
  expect(celFromJson('[0,-0,18446744073709551616,1.0,1e3,-2.5,1e400]')).toEqual([
    0n,
    0n,
    18446744073709551616n,
    1,
    1000,
    -2.5,
    Number.POSITIVE_INFINITY,
  ]);
});

it('makes objects maps, which inherit nothing', () => {
  expect(celFromJson(' {"__proto__" : {"a":null}, "b":[true,false]} ')).toEqual(
    new Map<string, CelValue>([
      ['__proto__', new Map([['a', null]])],
      ['b', [true, false]],
    ]),
  );
});

it('refuses a key twice, in any spelling, at any depth', () => {
  expect(() => celFromJson('[{"a":1,"\\u0061":2}]')).toThrow('a key twice');
});

it('refuses nesting over 250', () => {
  expect(() => celFromJson(`${'['.repeat(251)}${']'.repeat(251)}`)).not.toThrow();
  expect(() => celFromJson(`${'['.repeat(252)}${']'.repeat(252)}`)).toThrow('nested too deep');
  expect(() => celFromJson('['.repeat(60_000))).toThrow('nested too deep');
  const deep = Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 1);
  expect(() => celFromValue(deep)).toThrow('nested too deep');
});

it('reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom('', ' ', '\n\t\r'), (text, space) => {
      expect(plain(celFromJson(space + text + space))).toEqual(JSON.parse(text));
    }),
  );
});

it('refuses what JSON.parse refuses', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '"a"',
    '"\\u0062"',
    '01',
    '-',
    '1',
    '.5',
    'e1',
    'null',
    'tru',
    ' ',
    '\u00a0',
    '\n',
    '\ufeff',
  );
  // Too few pieces to spell an object with a key twice, which JSON.parse takes.
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      expect(accepts(celFromJson, text)).toBe(accepts(JSON.parse, text));
    }),
    { numRuns: 5_000 },
  );
});

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

function plain(value: CelValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return Array.isArray(value) ? value.map(plain) : value;
}
