import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mirrorsOf } from '../../src/protocol/mirrors.ts';

const of = (inputSchema: unknown) => mirrorsOf(JSON.stringify({ name: 't', inputSchema }));
const withProperties = (properties: object) => of({ type: 'object', properties });
const STRING = { type: 'string', 'x-mcp-header': 'A' };

const NOWHERE = { problem: 'an x-mcp-header stands where it reaches no parameter' };
const NO_NAME = { problem: 'an x-mcp-header is no name of a header' };
const NO_TYPE = { problem: 'an x-mcp-header is on what is no string, integer or boolean' };

describe('what a tool wants repeated', () => {
  it('is found at any depth of properties, under names in lower case', () => {
    const read = withProperties({
      region: { type: 'string', 'x-mcp-header': 'Region' },
      where: { type: 'object', properties: { no: { type: 'integer', 'x-mcp-header': 'House-No' }, free: {} } },
      flag: { type: 'boolean', 'x-mcp-header': "!#$%&'*+-.^_`|~09" },
    });
    const leaf = (header: string): object => ({ header, within: new Map() });
    expect(read).toMatchObject({
      within: new Map<string, object>([
        ['region', leaf('region')],
        ['flag', leaf("!#$%&'*+-.^_`|~09")],
        ['where', { header: undefined, within: new Map([['no', leaf('house-no')]]) }],
      ]),
    });
  });

  it('is nothing where nothing is annotated, data and names included', () => {
    expect(withProperties({ a: { type: 'string' } })).toBeUndefined();
    expect(mirrorsOf('{"name":"x-mcp-header"}')).toBeUndefined();
    expect(of({ properties: [STRING] })).toBeUndefined();
    expect(
      withProperties({
        'x-mcp-header': { type: 'string', default: { 'x-mcp-header': '' }, enum: [{ 'x-mcp-header': '' }] },
        a: { const: { 'x-mcp-header': '' }, examples: [{ 'x-mcp-header': '' }], description: 'x-mcp-header' },
      }),
    ).toBeUndefined();
  });

  it('is found where the keyword is escaped', () => {
    const text = '{"inputSchema":{"properties":{"a":{"type":"string","\\u0078-mcp-header":"A"}}}}';
    expect(mirrorsOf(text)).toMatchObject({ within: new Map([['a', { header: 'a' }]]) });
  });

  it('has one key as long as it is the same', () => {
    const key = (header: string, name = 'a', more = {}) =>
      withProperties({ [name]: { ...more, type: 'string', 'x-mcp-header': header } });
    expect(key('A', 'a', { title: 'other' })).toEqual(key('a'));
    const [one, renamed, moved] = [key('A'), key('B'), key('A', 'b')].map((read) => JSON.stringify(read));
    expect(new Set([one, renamed, moved]).size).toBe(3);
  });
});

describe('a definition is invalid for HTTP', () => {
  it.each(['', 'a b', 'a:', 'a\r\nb', 'é', '\u0000', 7, null, ['A'], true])('where the name is %j', (name) => {
    expect(withProperties({ a: { type: 'string', 'x-mcp-header': name } })).toEqual(NO_NAME);
  });

  it.each(['number', 'object', 'array', 'null', undefined, ['string', 'null']])('where the type is %j', (type) => {
    expect(withProperties({ a: { type, 'x-mcp-header': 'A' } })).toEqual(NO_TYPE);
  });

  it('where two names are one but for their case', () => {
    const inner = { properties: { b: { type: 'string', 'x-mcp-header': 'a' } } };
    expect(withProperties({ a: STRING, inner })).toEqual({ problem: 'two parameters have the same x-mcp-header' });
  });

  it('where the schema itself is annotated', () => {
    expect(of({ ...STRING, properties: {} })).toEqual(NOWHERE);
  });

  it.each([
    ...['items', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties'],
    ...['propertyNames', 'contentSchema', 'not', 'if', 'then', 'else'],
  ])('where %s is on the way', (keyword) => {
    expect(withProperties({ a: { [keyword]: STRING } })).toEqual(NOWHERE);
    expect(of({ [keyword]: { properties: { a: STRING } } })).toEqual(NOWHERE);
  });

  it.each(['items', 'prefixItems', 'allOf', 'anyOf', 'oneOf'])('where one of %s is on the way', (keyword) => {
    expect(of({ [keyword]: [true, { properties: { a: STRING } }] })).toEqual(NOWHERE);
  });

  it.each(['patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'])(
    'where an entry of %s is on the way',
    (keyword) => {
      expect(of({ properties: { ok: STRING }, [keyword]: { one: ['x'], other: STRING } })).toEqual(NOWHERE);
    },
  );

  it('where a parameter stands deeper than a hundred objects', () => {
    const nested = (depth: number) => {
      const [open, close] = ['{"properties":{"a":'.repeat(depth), '}}'.repeat(depth)];
      return mirrorsOf(`{"inputSchema":${open}${JSON.stringify(STRING)}${close}}`);
    };
    expect(nested(100)).toHaveProperty('within');
    expect(nested(101)).toEqual(NOWHERE);
    expect(nested(4_000)).toEqual(NOWHERE);
  });
});

it('any JSON is read as a definition', () => {
  const word = fc.constantFrom('x-mcp-header', 'properties', 'inputSchema', 'type', 'items', 'string', '__proto__');
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'medium' }, word, fc.integer(), fc.constant(null), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(word, tie('value'), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(json.object, (schema) => {
      const read = of(schema) ?? { within: new Map() };
      expect('problem' in read || read.within instanceof Map).toBe(true);
    }),
  );
});
