import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMessage } from '../../src/protocol/envelope.ts';
import { mirroredValues } from '../../src/protocol/mirrored-values.ts';
import { mirrorsOf } from '../../src/protocol/mirrors.ts';
import { headerText } from '../../src/upstream/http-mirrored.ts';

/** What is said of `args`, JSON text, by a tool that wants every property of these repeated. */
function said(args: string | undefined, properties: object) {
  const mirrors = mirrorsOf(JSON.stringify({ inputSchema: { properties } }));
  if (mirrors === undefined || 'problem' in mirrors) throw new Error('nothing to repeat');
  const given = args === undefined ? '' : `,"arguments":${args}`;
  const message = readMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"${given}}}`, 200);
  if (message.kind !== 'request') throw new Error('no request');
  return mirroredValues(message, mirrors);
}

const annotated = (header: string) => ({ type: 'string', 'x-mcp-header': header });
const ONE = { v: annotated('V') };

describe('the value in a header', () => {
  it.each([
    ['"us-west1"', 'us-west1'],
    ['""', ''],
    ['"\\u0041\\n\\"\\\\"', 'A\n"\\'],
    ['true', 'true'],
    ['false', 'false'],
    ['42', '42'],
    ['-7', '-7'],
    ['-0', '0'],
    ['9007199254740993', '9007199254740993'],
    ['-123456789012345678901234567890', '-123456789012345678901234567890'],
    ['42.0', '42'],
    ['1e3', '1000'],
    ['1E21', '1000000000000000000000'],
    ['-0.0', '0'],
    ['1.50', '1.5'],
  ])('of %s is %j', (json, text) => {
    expect(said(`{"v": ${json} }`, ONE)).toEqual([['v', text]]);
  });

  it.each(['null', '{"v":1}', '[1]', '1e400'])('is none for %s', (json) => {
    expect(said(`{"v":${json}}`, ONE)).toEqual([]);
  });

  it.each([undefined, '{}', '{"w":1}', '{"V":1}'])('is none where the arguments are %s', (args) => {
    expect(said(args, ONE)).toEqual([]);
  });

  it('stands at the path of its parameter and nowhere else', () => {
    const properties = {
      at: { properties: { v: annotated('V'), deep: { properties: { w: annotated('W') } } } },
      x: annotated('X'),
    };
    const args = '{"v":"no","x":1,"at":{"deep":{"w":true,"v":"no"},"v":"yes","x":"no"},"deep":{"w":"no"}}';
    expect(said(args, properties)).toEqual([
      ['x', '1'],
      ['w', 'true'],
      ['v', 'yes'],
    ]);
    expect(said('{"at":[{"v":1}],"x":{"v":1}}', properties)).toEqual([]);
  });

  it('is what the upstream reads of the body, whatever stands around it', () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger(), fc.boolean());
    const path = fc.array(fc.constantFrom('a', 'b', '__proto__', 'é"\\'), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(value, path, fc.json(), fc.constantFrom(0, 2), (given, keys, other, indent) => {
        const around = keys.reduceRight<unknown>((inner, key) => {
          return Object.fromEntries([
            ['z', JSON.parse(other)],
            [key, inner],
            ['x', 'v'],
          ]);
        }, given);
        const schema = keys.reduceRight<object>((inner, key) => {
          return { properties: Object.fromEntries([[key, inner]]) };
        }, annotated('V'));
        const { properties } = JSON.parse(JSON.stringify(schema));
        expect(said(JSON.stringify(around, null, indent), properties)).toEqual([['v', String(given)]]);
      }),
    );
  });
});

describe('the encoding of a value', () => {
  /** As a server reads it (MCP 2026-07-28, Value Encoding), written from the text of the revision. */
  const decode = (header: string) => {
    const isEncoded = header.startsWith('=?base64?') && header.endsWith('?=');
    return isEncoded ? Buffer.from(header.slice(9, -2), 'base64').toString('utf8') : header;
  };

  it.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ])('of %j is %j', (value, header) => {
    expect(headerText(value)).toBe(header);
  });

  it('comes back as it was, and is always a field value that no recipient trims', () => {
    const likely = fc.constantFrom('=?base64?', '?=', ' ', '\t', '\r\n', 'a', 'é', '\u0000', '\u007f');
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(likely).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (value) => {
        const header = headerText(value);
        expect(header).toMatch(/^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/);
        expect(decode(header)).toBe(value);
      }),
    );
  });
});
