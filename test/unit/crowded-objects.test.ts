import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMessage } from '../../src/protocol/envelope.ts';
import { JsonText } from '../../src/protocol/json-text.ts';

const MOST = 10_000;

/** The text of an object of this many vendor members, and these at its end. */
function crowd(count: number, ...last: string[]): string {
  return `{${[...Array.from({ length: count }, (_, at) => `"v${at}":[{"a":"}"},1]`), ...last].join(',')}}`;
}

const object = (count: number) => crowd(count);

test.each<[string, (text: string) => string]>([
  ['params', (text) => `{"jsonrpc":"2.0","method":"x","params":${text}}`],
  ['_meta', (text) => `{"jsonrpc":"2.0","method":"x","params":{"_meta":${text}}}`],
  ['ref', (text) => `{"jsonrpc":"2.0","method":"x","params":{"ref":${text}}}`],
  ['result', (text) => `{"jsonrpc":"2.0","id":7,"result":${text}}`],
  ['_meta of a result', (text) => `{"jsonrpc":"2.0","id":7,"result":{"_meta":${text}}}`],
])('an object the gateway reads has 10,000 members at most: %s', (_what, messageWith) => {
  expect(readMessage(messageWith(object(MOST)), 100).kind).not.toBe('unreadable');
  expect(readMessage(messageWith(object(MOST + 1)), 100)).toMatchObject({ kind: 'unreadable', problem: 'ambiguous' });
});

test('an answer with too many says whose it is, wherever its id stands', () => {
  const unreadable = { kind: 'unreadable', problem: 'ambiguous', id: 7 };
  expect(readMessage(`{"jsonrpc":"2.0","result":${object(MOST + 1)},"id":7}`, 100)).toEqual(unreadable);
  const error = crowd(MOST, '"code":1', '"message":""');
  expect(readMessage(`{"jsonrpc":"2.0","id":7,"error":${error}}`, 100)).toEqual(unreadable);
  const root = crowd(MOST, '"jsonrpc":"2.0"', '"id":7', '"result":{}');
  expect(readMessage(root, 100)).toEqual({ ...unreadable, id: undefined });
  expect(readMessage(`{"jsonrpc":"2.0","id":7,"result":{},${root.slice(1)}`, 100)).toEqual(unreadable);
});

test('one that nobody reads may have any number', () => {
  const message = readMessage(`{"jsonrpc":"2.0","id":7,"result":{"structuredContent":${object(MOST + 1)}}}`, 100);
  expect(message.kind).toBe('response');
});

test('what is left out nests as deep as it does', () => {
  const deep = `"deep":${'['.repeat(150)}${']'.repeat(150)}`;
  const text = `{"jsonrpc":"2.0","id":7,"result":${crowd(MOST, deep)}}`;
  expect(readMessage(text, 100)).toEqual({ kind: 'unreadable', problem: 'too_deep', id: 7 });
});

test('the members that are kept are the first, and the object ends where it ends', () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 });
  fc.assert(
    fc.property(objects, fc.nat(8), fc.constantFrom(undefined, 1, '\t'), (value, most, space) => {
      const text = JSON.stringify([value, { after: 1 }], undefined, space);
      const at = text.indexOf('{');
      const [whole, part] = [new JsonText(text), new JsonText(text, most)];
      const [all, some] = [whole.object(at), part.object(at)];
      expect(some).toEqual({ ...all, members: all.members.slice(0, most) });
      expect(part.crowded).toBe(all.members.length > most);
      expect(part.deepest).toBe(whole.deepest);
    }),
    { numRuns: 500 },
  );
});
