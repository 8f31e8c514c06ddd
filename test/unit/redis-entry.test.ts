import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMac } from '../../src/auth/mac.ts';
import { Entries, type Entry } from '../../src/redis/entry.ts';

const entries = new Entries('{p}:changes', createMac(['a key of at least thirty-two bytes'], 'bus'));
const from = 'A'.repeat(22);
const upstream = fc.stringMatching(/^[a-z0-9-]{1,24}$/);
const hint = fc.oneof(
  fc.record({ kind: fc.constantFrom('tools' as const, 'resources' as const, 'prompts' as const), upstream }),
  fc.record({ kind: fc.constant('updated' as const), upstream, uri: fc.string({ unit: 'binary' }) }),
  fc.record({ kind: fc.constant('everything' as const) }),
);
const entry: fc.Arbitrary<Entry> = fc.record({ from: fc.constant(from), number: fc.integer({ min: 1 }), hint });

test('what is written is read', () => {
  fc.assert(
    fc.property(entry, (each) => {
      expect(entries.read(entries.write(each))).toEqual(each);
    }),
  );
});

test('what is written crosses UTF-8, half a surrogate pair included', () => {
  const each: Entry = { from, number: 1, hint: { kind: 'updated', upstream: 'a', uri: 'x://\ud800' } };
  const sent = entries.write(each).map((text) => Buffer.from(text, 'utf8').toString('utf8'));
  expect(entries.read(sent)).toEqual(each);
});

test('one that is changed anywhere is none', () => {
  fc.assert(
    fc.property(entry, fc.nat(), fc.string(), (each, place, text) => {
      const fields = entries.write(each);
      const at = place % fields.length;
      fc.pre(fields[at] !== text);
      expect(entries.read(fields.with(at, text))).toBeUndefined();
    }),
  );
});

test.each([[undefined], [null], ['text'], [7], [[]], [[1, 2]]])('%j is none', (fields) => {
  expect(entries.read(fields)).toBeUndefined();
});

test('the fields of an entry', () => {
  const fields = entries.write({ from, number: 7, hint: { kind: 'updated', upstream: 'a', uri: 'x://1' } });
  expect(fields.slice(0, -1)).toEqual([
    'version',
    '1',
    'from',
    from,
    'number',
    '7',
    'kind',
    'updated',
    'upstream',
    'a',
    'uri',
    '"x://1"',
    'mac',
  ]);
});
