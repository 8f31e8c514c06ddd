import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NamedUpstream, publicNames } from '../../src/protocol/names.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const options = { separator: '__', maxLength: 64, hash };
const up = (upstream: string, originals: readonly string[], prefix = upstream): NamedUpstream => ({
  upstream,
  prefix,
  originals,
});
const names = (...upstreams: NamedUpstream[]) => [...publicNames(upstreams, options).byPublic.keys()];
const suffix = (upstream: string, original: string) => `_${hash(`${upstream}\0${original}`).slice(0, 8)}`;

describe('a public name', () => {
  it('is prefix, separator and original', () => {
    expect(names(up('search', ['find', 'a.b-c_D9']))).toEqual(['search__find', 'search__a.b-c_D9']);
  });

  it('is the original alone with an empty prefix', () => {
    expect(names(up('search', ['find'], ''))).toEqual(['find']);
  });

  it('ends in a hash where characters had to change', () => {
    expect(names(up('s', ['a/b', 'größe', '😀']))).toEqual([
      `s__a_b${suffix('s', 'a/b')}`,
      `s__gr__e${suffix('s', 'größe')}`,
      `s___${suffix('s', '😀')}`,
    ]);
    expect(names(up('s', ['a/b']))).toEqual(['s__a_b_fb3c0e4c']);
  });

  it('stays legal for the empty name', () => {
    expect(names(up('s', ['']))).toEqual(['s__']);
    expect(names(up('s', [''], ''))).toEqual([suffix('s', '')]);
  });

  it('finds back what Object.prototype also has', () => {
    const originals = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
    const table = publicNames([up('s', originals, '')], options);
    expect([...table.byPublic.keys()]).toEqual(originals);
    expect(table.byPublic.get('__proto__')).toEqual({ upstream: 's', original: '__proto__' });
    expect(table.publicOf('s', 'valueOf')).toBeUndefined();
    expect(table.publicOf('constructor', 'name')).toBeUndefined();
  });
});

it('B043: 40 + 40 characters are cut to 64, and one that differs in the last character stays distinct', () => {
  const prefix = 'u'.repeat(40);
  const originals = [`${'t'.repeat(39)}a`, `${'t'.repeat(39)}b`];
  const made = names({ upstream: 'u', prefix, originals });
  expect(made).toEqual(originals.map((original) => `${prefix}__${'t'.repeat(13)}${suffix('u', original)}`));
  expect(made.map((name) => name.length)).toEqual([64, 64]);
});

describe('names that would clash', () => {
  it('B041: the same tool on two servers has two names, each with its owner', () => {
    const table = publicNames([up('mail', ['send_email']), up('crm', ['send_email'])], options);
    expect(table.byPublic.get('mail__send_email')).toEqual({ upstream: 'mail', original: 'send_email' });
    expect(table.byPublic.get('crm__send_email')).toEqual({ upstream: 'crm', original: 'send_email' });
  });

  it('go to the first in the configuration', () => {
    const table = publicNames([up('a', ['b__x']), { upstream: 'z', prefix: 'a__b', originals: ['x'] }], options);
    expect(table.byPublic.get('a__b__x')).toEqual({ upstream: 'a', original: 'b__x' });
    expect(table.publicOf('z', 'x')).toBe(`a__b__x${suffix('z', 'x')}`);
  });

  it('are no way to take a hashed name: of oneself, of a later one, of an earlier one', () => {
    const hashed = `s__a_b${suffix('s', 'a/b')}`;
    const own = publicNames([up('s', ['a/b', hashed.slice(3)])], options);
    expect(own.publicOf('s', hashed.slice(3))).toBe(hashed);
    expect(own.byPublic.get(own.publicOf('s', 'a/b') ?? '')).toEqual({ upstream: 's', original: 'a/b' });
    const before = publicNames([up('evil', [hashed], ''), up('s', ['a/b'])], options);
    expect(before.byPublic.get(hashed)).toEqual({ upstream: 'evil', original: hashed });
    expect(before.publicOf('s', 'a/b')).toMatch(/^s__a_b_[0-9a-f]{8}$/);
    const after = publicNames([up('s', ['a/b']), up('evil', [hashed], '')], options);
    expect(after.byPublic.get(hashed)).toEqual({ upstream: 's', original: 'a/b' });
  });
});

const text = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('a', '_', '/', '.'), maxLength: 5 }),
);
const upstreams = fc.uniqueArray(
  fc.record({
    upstream: fc.constantFrom('a', 'b', 'c', 'a-b'),
    prefix: fc.constantFrom('', 'a', 'a__a', 'x'.repeat(60)),
    originals: fc.array(text, { maxLength: 12 }),
  }),
  { selector: ({ upstream }) => upstream },
);

describe('whatever upstreams list', () => {
  it.each([
    ['with a good hash', hash],
    ['with one that always collides', () => 'ffffffff'],
  ])('names are legal, distinct and reversible, %s', (_, chosen) => {
    fc.assert(
      fc.property(upstreams, (listed) => {
        const table = publicNames(listed, { ...options, hash: chosen });
        const owned = listed.flatMap(({ upstream, originals }) =>
          [...new Set(originals)].map((original) => ({ upstream, original })),
        );
        expect(table.byPublic.size).toBe(owned.length);
        for (const { upstream, original } of owned) {
          const name = table.publicOf(upstream, original) ?? '';
          expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
          expect(table.byPublic.get(name)).toEqual({ upstream, original });
        }
      }),
    );
  });

  it.each([
    ['with a good hash', hash],
    ['with one that always collides', () => 'ffffffff'],
  ])('names do not depend on the order of a list, nor on later upstreams, %s', (_, chosen) => {
    const chosenOptions = { ...options, hash: chosen };
    fc.assert(
      fc.property(upstreams, (listed) => {
        const table = publicNames(listed, chosenOptions);
        const turned = publicNames(
          listed.map((entry) => ({ ...entry, originals: [...entry.originals].reverse() })),
          chosenOptions,
        );
        expect(turned.byPublic).toEqual(table.byPublic);
        const fewer = publicNames(listed.slice(0, -1), chosenOptions);
        for (const [name, owner] of fewer.byPublic) expect(table.byPublic.get(name)).toEqual(owner);
      }),
    );
  });
});
