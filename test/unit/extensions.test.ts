import { describe, expect, test } from 'vitest';
import { viewOf } from '../../src/catalogue/view.ts';
import type { Grants } from '../../src/policy/access.ts';
import { carriedCapabilities } from '../../src/protocol/capabilities.ts';
import { carriedExtensions } from '../../src/protocol/extensions.ts';
import { catalogueOf, part } from '../support/parts.ts';

function seeing(...upstreams: string[]): Grants {
  return {
    key: JSON.stringify(upstreams),
    readsArguments: false,
    decide: ({ upstream }) => ({ effect: upstreams.includes(upstream) ? 'allow' : 'deny', rule: '0' }),
  };
}

const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`);
const many = (count: number, name: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}/${at}`, {}]));

describe('what a peer announces beyond its revision', () => {
  test('is carried as it is, but for tasks and what is no object', () => {
    const value = { deep: [{ a: null, b: 1.5, c: 'é' }] };
    expect(
      carriedExtensions({
        tools: {},
        tasks: { list: {} },
        extensions: {
          'io.modelcontextprotocol/tasks': {},
          'io.modelcontextprotocol/ui': value,
          'x/a': [],
          'x/b': true,
        },
        experimental: { 'io.modelcontextprotocol/tasks': {}, 'x/c': {}, 'x/d': null },
      }),
    ).toEqual({
      carried: { extensions: { 'io.modelcontextprotocol/ui': value }, experimental: { 'x/c': {} } },
      dropped: 3,
    });
  });

  test.each([undefined, null, [], 'x', {}, { extensions: [{}] }, { extensions: {}, experimental: 'x' }])(
    'is nothing where there is none: %j',
    (capabilities) => {
      expect(carriedExtensions(capabilities)).toEqual({ carried: {}, dropped: 0 });
    },
  );

  test('is at most 64 names in both members together', () => {
    const { carried, dropped } = carriedExtensions({ extensions: many(60, 'e'), experimental: many(10, 'x') });
    expect([carried.extensions, carried.experimental]).toEqual([many(60, 'e'), many(4, 'x')]);
    expect(dropped).toBe(6);
  });

  test('is at most 16 KiB of UTF-8; what is smaller and comes later may still fit', () => {
    const of = (length: number) => ({ a: 'é'.repeat(length) });
    const { carried, dropped } = carriedExtensions({
      extensions: { 'x/first': of(7000), 'x/large': of(1500) },
      experimental: { 'x/small': of(100) },
    });
    expect(carried).toEqual({ extensions: { 'x/first': of(7000) }, experimental: { 'x/small': of(100) } });
    expect(dropped).toBe(1);
    expect(carriedExtensions({ extensions: { 'x/huge': of(9000) } })).toEqual({ carried: {}, dropped: 1 });
  });

  test('nests at most 32 deep: who reads it may recurse', () => {
    expect(carriedExtensions({ extensions: { a: nested(32), b: nested(33), c: nested(3000) } })).toEqual({
      carried: { extensions: { a: nested(32) } },
      dropped: 2,
    });
  });

  test('of a client goes with what it declares', () => {
    const declared = {
      roots: {},
      tasks: {},
      extensions: { 'x/a': { n: 1 }, 'io.modelcontextprotocol/tasks': {} },
      experimental: { 'x/b': {} },
      'x/unknown': {},
    };
    expect(carriedCapabilities(declared)).toEqual({
      roots: {},
      extensions: { 'x/a': { n: 1 } },
      experimental: { 'x/b': {} },
    });
  });
});

describe('what the upstreams in view announce beyond their revision', () => {
  const announced = (of: string) => ({
    tools: {},
    extensions: { 'x/both': { of }, [`x/${of}`]: {} },
    experimental: { 'x/both': { of } },
  });

  test('is united: of two the first in the configuration says what a name means', () => {
    const { catalogue } = catalogueOf('a', 'b');
    catalogue.replace('b', part({ tools: ['t'], capabilities: announced('b') }));
    catalogue.replace('a', part({ tools: ['t'], capabilities: announced('a') }));
    expect(viewOf(catalogue.snapshot, seeing('a', 'b')).capabilities).toEqual({
      tools: { listChanged: true },
      extensions: { 'x/both': { of: 'a' }, 'x/a': {}, 'x/b': {} },
      experimental: { 'x/both': { of: 'a' } },
    });
    expect(viewOf(catalogue.snapshot, seeing('b')).capabilities).toEqual({
      tools: { listChanged: true },
      extensions: { 'x/both': { of: 'b' }, 'x/b': {} },
      experimental: { 'x/both': { of: 'b' } },
    });
  });

  test('is logged once where some of it is dropped', () => {
    const { catalogue, log } = catalogueOf('a', 'b');
    const capabilities = () => ({ tools: {}, extensions: many(70, 'x') });
    catalogue.replace('a', part({ tools: ['t'], capabilities: capabilities() }));
    catalogue.replace('a', part({ tools: ['u'], capabilities: capabilities() }));
    catalogue.replace('b', part({ tools: ['t'], capabilities: announced('b') }));
    expect(log.lines).toEqual([{ event: 'capabilities_dropped', fields: { upstream: 'a', count: 6 } }]);
  });
});
