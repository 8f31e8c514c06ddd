import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answeredId, readFrame, splitBatch } from '../../src/protocol/batch.ts';

const DEPTH = 8;
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

/** Members as JSON texts, and an array of them with white space wherever it may stand. */
const arrays = fc
  .array(fc.tuple(space, fc.json({ maxDepth: 3 }), space), { minLength: 1, maxLength: 64 })
  .chain((parts) => fc.tuple(space, fc.constant(parts), space))
  .map(([before, parts, after]) => ({
    members: parts.map(([, member]) => member),
    text: `${before}[${parts.map(([left, member, right]) => left + member + right).join(',')}]${after}`,
  }));

describe('the members of an array', () => {
  test('are the texts that stand in it, wherever white space stands', () => {
    fc.assert(
      fc.property(arrays, ({ members, text }) => {
        expect(splitBatch(text, DEPTH)).toEqual({ members });
      }),
    );
  });

  test('are what JSON.parse finds, and there are none where it finds no JSON', () => {
    const broken = fc
      .tuple(arrays, fc.nat(), fc.constantFrom('', '"', '\\', ',', '[', ']', '{', '}', ' ', '\u0001', '1', 'é'))
      .map(([{ text }, at, put]) => {
        const place = at % text.length;
        return text.slice(0, place) + put + text.slice(place + 1);
      })
      .filter((text) => readFrame(text, DEPTH).kind === 'array');
    fc.assert(
      fc.property(broken, (text) => {
        expect(outcome(text)).toEqual(expected(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('are at most 64 and at least one', () => {
    const of = (count: number) => splitBatch(`[${Array(count).fill('{}').join(',')}]`, DEPTH);
    expect(of(1)).toEqual({ members: ['{}'] });
    expect(of(64)).toEqual({ members: Array(64).fill('{}') });
    for (const count of [0, 65, 100_000]) expect(of(count)).toEqual({ problem: 'not_a_message' });
    expect(splitBatch(' [ ] ', DEPTH)).toEqual({ problem: 'not_a_message' });
  });

  test('may nest as deep as a message of its own, large or small', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const padding = JSON.stringify('x'.repeat(70_000));
    expect(splitBatch(`[${nested(DEPTH)}]`, DEPTH)).toEqual({ members: [nested(DEPTH)] });
    expect(splitBatch(`[${nested(DEPTH + 1)}]`, DEPTH)).toEqual({ problem: 'too_deep' });
    expect(splitBatch(`[${padding},${nested(DEPTH)}]`, DEPTH)).toEqual({ members: [padding, nested(DEPTH)] });
    expect(splitBatch(`[${padding},${nested(DEPTH + 1)}]`, DEPTH)).toEqual({ problem: 'too_deep' });
    expect(splitBatch('['.repeat(2_000_000), DEPTH)).toEqual({ problem: 'too_deep' });
  });
});

test.each([
  ['[]', 'array'],
  [' \r\n\t[', 'array'],
  ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 'request'],
  [' {"jsonrpc":"2.0","id":1,"method":"a[","params":{}}', 'request'],
  ['"["', 'unreadable'],
  ['', 'unreadable'],
  ['   ', 'unreadable'],
])('a frame is an array if its value starts with a bracket: %j', (text, kind) => {
  expect(readFrame(text, DEPTH).kind).toBe(kind);
});

test.each([
  ['{"jsonrpc":"2.0","id":1,"result":{"id":2}}', 1],
  ['{"result":{"id":2},"jsonrpc":"2.0","id":"1"}', '1'],
  ['{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"id"}}', null],
])('an answer is known by its own id: %s', (frame, id) => {
  expect(answeredId(frame)).toBe(id);
});

function outcome(text: string): unknown {
  const split = splitBatch(text, 1000);
  return 'problem' in split ? split.problem : split.members.map((member): unknown => JSON.parse(member));
}

function expected(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.length > 0 && value.length <= 64 ? value : 'not_a_message';
  } catch {
    return 'not_json';
  }
}
