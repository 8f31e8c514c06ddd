import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answers, negotiatedVersion } from '../../src/upstream/http-answered.ts';

/** The members of a message, in any order, with any white space between tokens. */
const member = fc.oneof(
  fc.constant(['jsonrpc', '"2.0"']),
  fc.tuple(fc.constant('id'), fc.constantFrom('7', '8', '-7', '"7"', 'null', '7.0', '70', '7e0')),
  fc.tuple(fc.constantFrom('result', 'error', 'method', 'params', 'x', 'a,\\"id'), fc.json({ maxDepth: 2 })),
  fc.tuple(fc.constantFrom('result', 'params'), fc.constantFrom('{"id":7}', '",\\"id\\":7}"', '[{"a":1,"id":7}]')),
);
const message = fc
  .tuple(fc.uniqueArray(member, { selector: ([key]) => key, maxLength: 5 }), fc.constantFrom('', ' ', '\n', '\t '))
  .map(([members, gap]) => {
    const written = members.map(([key, value]) => `${gap}"${key}"${gap}:${gap}${value}${gap}`);
    return `{${gap}${written.join(',')}}${gap}`;
  })
  .filter((text) => !isNeither(JSON.parse(text)));

/** A response with a method is no message of JSON-RPC at all. */
function isNeither(value: object): boolean {
  return 'method' in value && ('result' in value || 'error' in value);
}

function judgedByParsing(text: string): boolean {
  const value = JSON.parse(text);
  return value.id === 7 && ('result' in value || 'error' in value);
}

test('says what JSON.parse says, for any order of members', () => {
  const holds = fc.property(message, (text) => answers(text, 7) === judgedByParsing(text));
  fc.assert(holds, { numRuns: 2_000 });
});

describe('an answer to 7', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":7,"result":{}}', true],
    ['{"result":{},"jsonrpc":"2.0","id":7}', true],
    ['{"error":{"code":1,"message":""},"id":7,"jsonrpc":"2.0"}', true],
    ['{"jsonrpc":"2.0","\\u0069d":7,"result":{}}', true],
    ['{"jsonrpc":"2.0","id":7,"method":"ping"}', false],
    ['{"jsonrpc":"2.0","id":77,"result":{}}', false],
    ['{"jsonrpc":"2.0","method":"notifications/message","params":{"id":7}}', false],
    ['[{"jsonrpc":"2.0","id":7,"result":{}}]', false],
    ['null', false],
    ['<p>', false],
  ])('%s: %s', (text, expected) => expect(answers(text, 7)).toBe(expected));
});

test.each([
  ['{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}', '2025-11-25'],
  ['{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"a\\r\\nb: c"}}', undefined],
  ['{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":3}}', undefined],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}', undefined],
])('%s settles on %s', (text, expected) => expect(negotiatedVersion(text)).toBe(expected));
