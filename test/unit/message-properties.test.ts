import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFrame, splitBatch } from '../../src/protocol/batch.ts';
import { readMessage } from '../../src/protocol/envelope.ts';
import { rewriteRequest, rewriteResponse } from '../../src/protocol/rewrite.ts';
import { frameLine, lineReader } from '../../src/transport/line-framing.ts';

const DEPTH = 50;
const RUNS = { numRuns: 1000 };

const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u',
  '\r',
  '\n',
  ' ',
  '\t',
  '0',
  '-',
  '.',
  'e',
  '1e400',
  '\ufeff',
  '\u00a0',
  'null',
];
const KEYS = [
  'jsonrpc',
  'id',
  'method',
  'params',
  'result',
  'error',
  '_meta',
  'name',
  'code',
  'message',
  'progressToken',
];

/** Messages, and what is close to being one. */
const messageText = fc
  .record(
    {
      jsonrpc: fc.constantFrom('2.0', '1.0', 2),
      id: fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.integer(), fc.constantFrom(null, 1.5, {})),
      method: fc.constantFrom('tools/call', 'ping', '', 7),
      params: fc.dictionary(fc.constantFrom(...KEYS), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
      result: fc.dictionary(fc.constantFrom(...KEYS), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 }),
      error: fc.record({ code: fc.oneof(fc.integer(), fc.double()), message: fc.string() }),
    },
    { requiredKeys: ['jsonrpc', 'id'] },
  )
  .chain((message) =>
    fc.constantFrom(
      JSON.stringify(message),
      JSON.stringify(message, undefined, '\r\n'),
      `[${JSON.stringify(message)}]`,
    ),
  );
const changed = fc
  .tuple(messageText, fc.array(fc.tuple(fc.nat(400), fc.nat(3), fc.constantFrom('', ...PIECES)), { maxLength: 3 }))
  .map(([text, changes]) =>
    changes.reduce((now, [at, cut, put]) => now.slice(0, at) + put + now.slice(at + cut), text),
  );
const deep = fc.nat(2 * DEPTH).map((levels) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
const texts = fc.oneof(changed, messageText, fc.json(), fc.string({ unit: 'binary' }), deep);

/** UTF-8, and what is none. */
const buffers = fc.oneof(
  texts.map((text) => Buffer.from(text)),
  fc.tuple(changed, fc.nat(400), fc.constantFrom(0xff, 0xc0, 0x80, 0x0d, 0x00)).map(([text, at, byte]) => {
    const bytes = Buffer.from(text);
    if (at < bytes.length) bytes[at] = byte;
    return bytes;
  }),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
);

function parses(given: string | Buffer): boolean {
  try {
    JSON.parse(String(given));
    return true;
  } catch {
    return false;
  }
}

/** The one line a stream of these bytes holds, however it is cut into chunks. */
function lineOf(bytes: Buffer, cut: number): string | undefined {
  const lines: string[] = [];
  const reader = lineReader({ maxLine: 1_000_000, onLine: (line) => lines.push(line), onOversize() {} });
  const at = Math.min(cut, bytes.length);
  for (const chunk of [bytes.subarray(0, at), bytes.subarray(at), Buffer.from('\n')]) reader.push(chunk);
  expect(lines.length).toBeLessThanOrEqual(1);
  return lines[0];
}

describe('an envelope', () => {
  test('accepts of texts exactly what JSON.parse accepts, and never throws', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const message = readMessage(text, Number.POSITIVE_INFINITY);
        expect(message.kind === 'unreadable' && message.problem === 'not_json').toBe(!parses(text));
      }),
      RUNS,
    );
  });

  test('accepts of bytes exactly what JSON.parse accepts, in whatever chunks they come', () => {
    fc.assert(
      fc.property(buffers, fc.nat(400), (bytes, cut) => {
        fc.pre(!bytes.includes(0x0a));
        const line = lineOf(bytes, cut);
        const message = readMessage(line ?? '', Number.POSITIVE_INFINITY);
        expect(message.kind === 'unreadable' && message.problem === 'not_json').toBe(!parses(bytes));
      }),
      RUNS,
    );
  });

  test('reads a frame, a batch and each member of it without throwing, to whatever depth', () => {
    fc.assert(
      fc.property(texts, fc.nat(2 * DEPTH), (text, depth) => {
        const frame = readFrame(text, depth);
        const split = frame.kind === 'array' ? splitBatch(frame.text, depth) : { members: [] };
        const members = 'members' in split ? split.members : [];
        for (const member of members) readMessage(member, depth);
      }),
      RUNS,
    );
  });
});

describe('one frame in', () => {
  test('is at most one line out, as what it is or written anew', () => {
    fc.assert(
      fc.property(texts, fc.string({ unit: 'binary' }), (text, name) => {
        const message = readMessage(text, Number.POSITIVE_INFINITY);
        const out: string[] = message.kind === 'unreadable' ? [] : [message.text];
        if (message.kind === 'request') out.push(rewriteRequest(message, { id: 7, name, progressToken: 7 }));
        if (message.kind === 'response') out.push(rewriteResponse(message, name));
        const lines = out.map(frameLine);
        for (const line of lines) expect(line.slice(0, -1)).not.toMatch(/[\r\n\u0085\u2028\u2029]/);
        for (const line of lines) expect(parses(line)).toBe(true);
      }),
      RUNS,
    );
  });

  test('and each member of a batch is too', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(messageText, changed), { maxLength: 3 }),
        fc.constantFrom('\n', '\r\n', ' '),
        (members, space) => {
          const split = splitBatch(`[${space}${members.join(`,${space}`)}]`, Number.POSITIVE_INFINITY);
          const read =
            'members' in split ? split.members.map((member) => readMessage(member, Number.POSITIVE_INFINITY)) : [];
          const out = read.flatMap((message) => (message.kind === 'unreadable' ? [] : [message.text]));
          for (const text of out) expect(text).not.toMatch(/[\r\n]/);
        },
      ),
      RUNS,
    );
  });
});
