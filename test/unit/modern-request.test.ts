import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Request, readMessage } from '../../src/protocol/envelope.ts';
import { envelopedParams, envelopeMembers, inputMembers } from '../../src/protocol/modern-request.ts';
import { rewriteRequest } from '../../src/protocol/rewrite.ts';

const PREFIX = 'io.modelcontextprotocol/';
const ENVELOPE = envelopeMembers({ roots: {} }, undefined);
const OURS = {
  [`${PREFIX}protocolVersion`]: '2026-07-28',
  [`${PREFIX}clientInfo`]: { name: 'mcp-ws-gateway', version: '0.1.0' },
  [`${PREFIX}clientCapabilities`]: { roots: {} },
};

function request(text: string): Request {
  const message = readMessage(text, 4000);
  if (message.kind !== 'request') throw new Error(message.kind);
  return message;
}

/** The `params` of what becomes of a request with these. */
function sent(params: string | undefined, inputs: readonly string[] = []): string {
  const own = params === undefined ? '' : `,"params":${params}`;
  const line = rewriteRequest(
    request(`{"jsonrpc":"2.0","id":1,"method":"x/y"${own}}`),
    { id: 2 },
    { envelope: ENVELOPE, inputs },
  );
  const start = '{"jsonrpc":"2.0","id":2,"method":"x/y","params":';
  expect(line.startsWith(start)).toBe(true);
  return line.slice(start.length, -1);
}

describe('the envelope of a link', () => {
  test('is all that a request without parameters has', () => {
    expect(sent(undefined)).toBe(`{"_meta":{${ENVELOPE}}}`);
    expect(sent('{}')).toBe(`{"_meta":{${ENVELOPE}}}`);
    expect(sent('{ }')).toBe(`{"_meta":{${ENVELOPE}} }`);
  });

  test.each([
    ['{"a":1}', `{"_meta":{${ENVELOPE}},"a":1}`],
    ['{ "_meta" : { } , "a":1}', `{ "_meta" : {${ENVELOPE} } , "a":1}`],
    ['{"_meta":{"x":1.50}}', `{"_meta":{${ENVELOPE},"x":1.50}}`],
    ['{"_meta":7}', `{"_meta":{${ENVELOPE}}}`],
    [`{"_meta":{"${PREFIX}logLevel":"info"}}`, `{"_meta":{${ENVELOPE}}}`],
    [`{"_meta":{"${PREFIX}logLevel":"info" , "x":1}}`, `{"_meta":{${ENVELOPE}, "x":1}}`],
    [`{"_meta":{"x":1, "${PREFIX}clientInfo":{"a":","}}}`, `{"_meta":{${ENVELOPE},"x":1}}`],
    [`{"_meta":{"\\u0069o.modelcontextprotocol/protocolVersion":"x","x":1}}`, `{"_meta":{${ENVELOPE},"x":1}}`],
  ])('of %s makes %s', (params, expected) => {
    expect(sent(params)).toBe(expected);
  });

  test('names the level where there is one', () => {
    expect(JSON.parse(`{${envelopeMembers({}, 'error')}}`)).toEqual({
      ...OURS,
      [`${PREFIX}clientCapabilities`]: {},
      [`${PREFIX}logLevel`]: 'error',
    });
  });

  test('stands before the parameters of the gateway’s own requests', () => {
    expect(envelopedParams(undefined, ENVELOPE)).toBe(`{"_meta":{${ENVELOPE}}}`);
    expect(envelopedParams('{}', ENVELOPE)).toBe(`{"_meta":{${ENVELOPE}}}`);
    expect(envelopedParams('{"cursor":"c"}', ENVELOPE)).toBe(`{"_meta":{${ENVELOPE}},"cursor":"c"}`);
  });
});

describe('what answers an earlier round', () => {
  const forged = '"inputResponses":{"a":1},"requestState":"forged"';

  test.each([
    [`{${forged},"a":1}`, '"a":1'],
    [`{"a":1,${forged}}`, '"a":1'],
    [`{"requestState":1 , "a":1,"inputResponses":[2]}`, ' "a":1'],
  ])('is taken out of %s', (params, left) => {
    expect(sent(params)).toBe(`{"_meta":{${ENVELOPE}},${left}}`);
  });

  test('is what the gateway says in its place, with the state byte for byte', () => {
    const inputs = inputMembers('{"k":{"n":9223372036854775807}}', 'st\u2028"ate');
    expect(sent(`{${forged},"a":1}`, inputs)).toBe(
      `{"_meta":{${ENVELOPE}},"inputResponses":{"k":{"n":9223372036854775807}},"requestState":"st\u2028\\"ate","a":1}`,
    );
    expect(inputMembers(undefined, undefined)).toEqual([]);
  });

  test('goes on a link of the handshake era too', () => {
    const message = request(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a",${forged}}}`);
    expect(rewriteRequest(message, { id: 2 }, { inputs: [] })).toBe(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}',
    );
    // A question of an upstream to a client is nobody's retry.
    expect(rewriteRequest(message, { id: 1 })).toContain(forged);
  });
});

test('whatever the request holds, its own members stay and no other is added', () => {
  const keys = fc.oneof(fc.string(), fc.constantFrom('requestState', 'inputResponses', 'name'));
  const metaKeys = fc.oneof(
    fc.string(),
    fc
      .constantFrom('protocolVersion', 'clientCapabilities', 'clientInfo', 'logLevel', 'other')
      .map((key) => PREFIX + key),
  );
  const json = fc.jsonValue({ maxDepth: 3 });
  const given = fc.tuple(fc.dictionary(keys, json), fc.option(fc.dictionary(metaKeys, json)), fc.constantFrom(0, 1));
  fc.assert(
    fc.property(given, ([members, meta, indent]) => {
      const params = { ...members, ...(meta === null ? {} : { _meta: meta }) };
      const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x/y', params }, undefined, indent);
      const message = readMessage(text, 4000);
      fc.pre(message.kind === 'request');
      const line =
        message.kind === 'request' ? rewriteRequest(message, { id: 2 }, { envelope: ENVELOPE, inputs: [] }) : '';
      const plain = JSON.parse(text).params;
      const { requestState: _state, inputResponses: _responses, ...rest } = plain;
      const kept = Object.entries(plain._meta ?? {}).filter(
        ([key]) => !/^io\.modelcontextprotocol\/(protocolVersion|clientCapabilities|clientInfo|logLevel)$/.test(key),
      );
      const read = readMessage(line, 4000);
      expect(read.kind).toBe('request');
      expect(JSON.parse(line).params).toEqual({ ...rest, _meta: { ...OURS, ...Object.fromEntries(kept) } });
    }),
  );
});
