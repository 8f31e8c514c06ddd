import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { droppedAnswerId } from '../../src/transport/dropped-answer.ts';
import { frameLine, lineReader, lineSafe, type OversizeLine } from '../../src/transport/line-framing.ts';

function readAll(chunks: readonly Buffer[], maxLine = 1000) {
  const lines: string[] = [];
  const oversize: OversizeLine[] = [];
  let ends = 0;
  const reader = lineReader({
    maxLine,
    onLine: (line) => lines.push(line),
    onOversize: (line) => oversize.push(line),
    onEnd: () => {
      ends += 1;
    },
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { lines, oversize, ends };
}

/** `bytes` cut after each of the given numbers of bytes, over and over. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

describe('reading lines', () => {
  it('ends a line at LF, takes a CR before it away, skips empty lines and keeps an unterminated last one', () => {
    const { lines, ends } = readAll([Buffer.from('{"a":1}\r\n\n\r\n{"b":2}\n{"c":'), Buffer.from('3}')]);
    expect(lines).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
    expect(ends).toBe(1);
  });

  it('gives the same lines however the bytes are cut', () => {
    const text = fc.stringMatching(/^[^\r\n]{1,40}$/u);
    fc.assert(
      fc.property(fc.array(text), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (wanted, sizes) => {
        const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(''));
        expect(readAll(cut(bytes, sizes)).lines).toEqual(readAll([bytes]).lines);
        expect(readAll([bytes]).lines).toEqual(wanted);
      }),
    );
  });

  it.each([[[1000]], [[1]], [[7, 64]]])('drops a line over the limit and only that one, cut by %j', (sizes) => {
    const stream = Buffer.from(`${'a'.repeat(10)}\n${'b'.repeat(11)}\n${'c'.repeat(10)}\n`);
    const { lines, oversize } = readAll(cut(stream, sizes), 10);
    expect(lines).toEqual(['aaaaaaaaaa', 'cccccccccc']);
    expect(oversize).toEqual([{ head: 'bbbbbbbbbbb', tail: 'bbbbbbbbbbb', bytes: 11 }]);
  });

  it('knows the first and last 4 KiB of a dropped line', () => {
    const line = `${'a'.repeat(5000)}${'b'.repeat(90_000)}${'c'.repeat(5000)}`;
    const { oversize } = readAll(cut(Buffer.from(`${line}\n`), [1700]), 20_000);
    expect(oversize).toEqual([{ head: 'a'.repeat(4096), tail: 'c'.repeat(4096), bytes: 100_000 }]);
  });

  it('stops inside a chunk when paused and goes on where it stopped', () => {
    const lines: string[] = [];
    const reader = lineReader({
      maxLine: 100,
      onOversize() {},
      onLine(line) {
        lines.push(line);
        reader.pause();
      },
      onEnd: () => lines.push('end'),
    });
    reader.push(Buffer.from('1\n2\n3'));
    reader.end();
    expect(lines).toEqual(['1']);
    reader.resume();
    expect(lines).toEqual(['1', '2']);
    reader.resume();
    expect(lines).toEqual(['1', '2', '3']);
    reader.resume();
    expect(lines).toEqual(['1', '2', '3', 'end']);
  });
});

describe('a long line', () => {
  it('costs CPU time in proportion to its size, in small pieces too', () => {
    const piece = Buffer.alloc(1024, 'x');
    const cpuOf = (pieces: number) => {
      const from = process.cpuUsage();
      const { lines } = readAll([...Array<Buffer>(pieces).fill(piece), Buffer.from('\n')], 64 * 1024 * 1024);
      const { user, system } = process.cpuUsage(from);
      expect(lines[0]).toHaveLength(pieces * 1024);
      return user + system;
    };
    const best = (pieces: number) => Math.min(cpuOf(pieces), cpuOf(pieces), cpuOf(pieces));
    const small = best(2048);
    expect(best(16_384) / small).toBeLessThan(32);
  });
});

describe('writing lines', () => {
  it('leaves a message without breaks alone and ends it with LF', () => {
    expect(lineSafe('{"a":"b\\n"}')).toBe('{"a":"b\\n"}');
    expect(frameLine('{"a":1}')).toBe('{"a":1}\n');
  });

  it('puts a space for CR and LF and escapes what other readers split at', () => {
    expect(lineSafe('{"a":\r\n1,"b":"\u0085\u2028\u2029"}')).toBe('{"a":  1,"b":"\\u0085\\u2028\\u2029"}');
  });

  it('never changes what the JSON says', () => {
    const spaced = fc
      .tuple(fc.json(), fc.constantFrom('\r', '\n', '\r\n', ' '))
      .map(([json, gap]) => `[${gap}${json}${gap}]`);
    const withBreaks = fc
      .array(fc.constantFrom('\u0085', '\u2028', '\u2029', 'a', '"', '\\', '😀'))
      .map((all) => JSON.stringify(all.join('')));
    fc.assert(
      fc.property(fc.oneof(spaced, withBreaks), (message) => {
        const safe = lineSafe(message);
        expect(safe).not.toMatch(/[\r\n\u0085\u2028\u2029]/);
        expect(JSON.parse(safe)).toEqual(JSON.parse(message));
      }),
    );
  });
});

describe('the request a dropped line answers', () => {
  const large = `{"content":[{"type":"text","text":"${'x\\",\\"id\\":5}'.repeat(1000)}"}],"id":6}`;
  const ends = (line: string) => [line.slice(0, 4096), line.slice(-4096)] as const;

  it.each([
    ['id first', `{"jsonrpc":"2.0","id":7,"result":${large}}`, 7],
    ['id last', `{"result":${large},"jsonrpc":"2.0","id":7}`, 7],
    ['id before jsonrpc, last', `{"result":${large},"id":7,"jsonrpc":"2.0"}`, 7],
    ['white space', `{ "jsonrpc": "2.0", "id": 0, "error": ${large} } `, 0],
    ['white space, id last', `{ "error": ${large} , "jsonrpc": "2.0" , "id": 7 }`, 7],
  ])('is found: %s', (_, line, id) => {
    expect(droppedAnswerId(...ends(line))).toBe(id);
  });

  it.each([
    ['a request, id first', `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":${large}}`],
    ['a request, id last', `{"method":"sampling/createMessage","params":${large},"jsonrpc":"2.0","id":7}`],
    ['a request, method last', `{"id":7,"params":${large},"method":"sampling/createMessage"}`],
    ['ids of inner objects only', `{"jsonrpc":"2.0","result":${large}}`],
    ['an id inside a string', `{"jsonrpc":"2.0","result":"${'x'.repeat(5000)},\\"id\\":7}"}`],
    ['a text id', `{"jsonrpc":"2.0","id":"7","result":${large}}`],
    ['not an integer', `{"jsonrpc":"2.0","id":1.5,"result":${large}}`],
    ['not JSON', 'x'.repeat(9000)],
  ])('is not guessed: %s', (_, line) => {
    expect(droppedAnswerId(...ends(line))).toBeUndefined();
  });
});
