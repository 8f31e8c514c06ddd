import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { field, type Message, readMessage, stringField } from '../../src/protocol/envelope.ts';
import { repeatsKey } from '../../src/protocol/json-text.ts';
import { rewriteRequest, rewriteResponse } from '../../src/protocol/rewrite.ts';

const DEPTH = 4000;

function read(text: string): Message {
  const message = readMessage(text, DEPTH);
  if (message.kind === 'unreadable') throw new Error(message.problem);
  return message;
}

function request(text: string) {
  const message = read(text);
  if (message.kind !== 'request') throw new Error(message.kind);
  return message;
}

describe('what is no message', () => {
  test.each([
    ['', 'not_json'],
    ['{', 'not_json'],
    ["{'jsonrpc':'2.0','id':1,'method':'ping'}", 'not_json'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping",}', 'not_json'],
    ['{"jsonrpc":"2.0","id":01,"method":"ping"}', 'not_json'],
    ['\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}', 'not_json'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}{}', 'not_json'],
    ['[]', 'not_a_message'],
    ['null', 'not_a_message'],
    ['{}', 'not_a_message'],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 'not_a_message'],
    ['{"id":1,"method":"ping"}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":1,"method":7}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":1,"result":1}', 'not_a_message'],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 'ambiguous'],
    ['{"jsonrpc":"2.0","id":1,"\\u0069d":2,"method":"ping"}', 'ambiguous'],
    ['{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}', 'ambiguous'],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}', 'ambiguous'],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\\u0061me":"b"}}', 'ambiguous'],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"a","name":"b"}}', 'ambiguous'],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":1,"progresstoKen":2}}}', 'ambiguous'],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"ar\u017Fuments":{}}}', 'ok'],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"argument\u017F":{}}}', 'ambiguous'],
    ['{"jsonrpc":"2.0","id":1,"result":{"_meta":{},"_meta":{}}}', 'ambiguous'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2,"message":""}}', 'ambiguous'],
  ])('%s', (text, problem) => {
    const message = readMessage(text, DEPTH);
    expect(message.kind === 'unreadable' ? message.problem : 'ok').toBe(problem);
  });

  test('nested deeper than the limit, however deep', () => {
    const nested = (levels: number) =>
      `{"jsonrpc":"2.0","id":7,"result":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    expect(readMessage(nested(3998), DEPTH).kind).toBe('response');
    expect(readMessage(nested(3999), DEPTH)).toEqual({ kind: 'unreadable', problem: 'too_deep', id: 7 });
    expect(readMessage(nested(200_000), DEPTH)).toEqual({ kind: 'unreadable', problem: 'too_deep', id: 7 });
  });
});

test('an answer that breaks a rule says whose it is; a call never does', () => {
  expect(readMessage('{"jsonrpc":"2.0","id":7,"result":{"_meta":{},"_meta":{}}}', DEPTH)).toMatchObject({ id: 7 });
  expect(readMessage('{"jsonrpc":"2.0","id":7,"method":"x","method":"y"}', DEPTH)).toMatchObject({ id: undefined });
});

test('an answer cut short, or with an error that is none, says whose it is', () => {
  expect(readMessage('{"jsonrpc":"2.0","id":7,"result":{"content":[', DEPTH)).toEqual({
    kind: 'unreadable',
    problem: 'not_json',
    id: 7,
  });
  for (const error of ['{}', '{"code":"nan","message":5}', '{"code":1.5,"message":""}', '{"code":1}']) {
    const message = readMessage(`{"jsonrpc":"2.0","id":7,"error":${error}}`, DEPTH);
    expect(message).toEqual({ kind: 'unreadable', problem: 'not_a_message', id: 7 });
  }
});

test('the envelope of the modern era stays with the gateway, the rest of _meta goes on', () => {
  const envelope =
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';
  const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"p__a","_meta":{${envelope},"progressToken":"t","vendor/x":9223372036854775807}}}`;
  expect(rewriteRequest(request(text), { id: 2, name: 'a', progressToken: 2 })).toBe(
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":2,"vendor/x":9223372036854775807}}}',
  );
});

describe('rewriting', () => {
  test('writes what was judged and leaves the rest as it came', () => {
    const text =
      '{ "id" : "x", "vendor": 9223372036854775807,\r\n"method":"tools/call", "jsonrpc":"2.0","params":{"arguments":{"n":1e400},"_meta":{"progressToken":"t"},"name":"p__a"}}';
    expect(rewriteRequest(request(text), { id: 5, name: 'a', progressToken: 5 })).toBe(
      '{ "id" : 5, "vendor": 9223372036854775807,  "method":"tools/call", "jsonrpc":"2.0","params":{"arguments":{"n":1e400},"_meta":{"progressToken":5},"name":"a"}}',
    );
  });

  test('an escaped spelling of what was judged never survives', () => {
    const text = '{"jsonrpc":"2\\u002e0","id":1,"method":"tools\\/call","params":{"name":"\\u0061"}}';
    expect(rewriteRequest(request(text), { id: 2, name: 'a' })).toBe(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}',
    );
  });

  test('a ref beside the name of a call is not taken for it', () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"ref":{"name":"x"},"name":"p__a"}}';
    expect(rewriteRequest(request(text), { id: 2, name: 'a' })).toBe(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"ref":{"name":"x"},"name":"a"}}',
    );
  });

  test.each([[0], ['0'], [-7], [''], ['\u2028"\\']])('an answer gets back the id %j as it was', (id) => {
    const answer = read('{"result":{"content":[]},"jsonrpc":"2.0","id":9}');
    const rewritten = answer.kind === 'response' ? rewriteResponse(answer, id) : '';
    expect(JSON.parse(rewritten)).toEqual({ result: { content: [] }, jsonrpc: '2.0', id });
  });
});

describe('properties', () => {
  const spaced = fc.tuple(fc.json({ maxDepth: 5 }), fc.constantFrom('', ' ', '\n', '\r\n', '\t'));
  const params = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 });

  test('accepts as JSON exactly what JSON.parse accepts', () => {
    const mutated = spaced.chain(([text, space]) =>
      fc
        .tuple(fc.nat(text.length), fc.constantFrom('', '"', '}', ',', '\\', '0', 'e', '\u0000'))
        .map(([at, put]) => space + text.slice(0, at) + put + text.slice(at + 1)),
    );
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string()), (text) => {
        const message = readMessage(text, DEPTH);
        expect(message.kind === 'unreadable' && message.problem === 'not_json').toBe(!parses(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('a rewritten request differs from the original in what was judged and in nothing else', () => {
    fc.assert(
      fc.property(params, fc.string(), fc.nat(), (rest, name, id) => {
        const original = { jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { ...rest, name: 'old' } };
        const message = readMessage(JSON.stringify(original, undefined, 1), DEPTH);
        fc.pre(message.kind === 'request');
        const line = message.kind === 'request' ? rewriteRequest(message, { id, name }) : '';
        expect(line).not.toMatch(/[\r\n]/);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ ...original, id, params: { ...rest, name } })));
      }),
    );
  });

  test('finds each member where JSON.parse finds it', () => {
    fc.assert(
      fc.property(params, (given) => {
        const message = readMessage(JSON.stringify({ jsonrpc: '2.0', method: 'x', params: given }), DEPTH);
        fc.pre(message.kind === 'notification');
        const found = message.kind === 'notification' ? message : undefined;
        for (const [key, value] of Object.entries(given)) {
          const member = field(found?.params, key);
          expect(JSON.parse((found?.text ?? '').slice(member?.start, member?.end))).toEqual(
            JSON.parse(JSON.stringify(value)),
          );
          expect(stringField(found?.text ?? '', found?.params, key)).toBe(
            typeof value === 'string' ? value : undefined,
          );
        }
      }),
    );
  });

  test('sees a repeated key at any depth, in any spelling, and none where there is none', () => {
    expect(repeatsKey('{"a":[{"b":1,"\\u0062":2}]}', 0)).toBe(true);
    expect(repeatsKey('{"a":{"a":{"a":["a","a"]}},"b":"a"}', 0)).toBe(false);
    fc.assert(
      fc.property(params, (given) => {
        expect(repeatsKey(JSON.stringify(given), 0)).toBe(false);
      }),
    );
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
