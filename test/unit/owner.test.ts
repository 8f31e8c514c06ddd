import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/catalogue/catalogue.ts';
import { catalogueOf, part } from '../support/parts.ts';

function listed({ items }: Snapshot): string[] {
  return items.resources.map(({ key, upstream }) => `${upstream} ${key}`);
}

describe('the owner of a URI', () => {
  it('is, of several that list it before readiness, the first in the configuration, whatever came first (B046)', () => {
    const { catalogue, log } = catalogueOf('a', 'b');
    catalogue.replace('b', part({ resources: ['timezone://info'] }));
    expect(catalogue.snapshot.ownerOf('timezone://info')).toBe('b');
    catalogue.replace('a', part({ resources: ['timezone://info'] }));
    expect(catalogue.snapshot.ownerOf('timezone://info')).toBe('a');
    expect(listed(catalogue.snapshot)).toEqual(['a timezone://info']);
    expect(log.lines).toEqual([
      { event: 'uri_clash', fields: { upstream: 'b', count: 1, uri: 'timezone://info', holder: 'a' } },
    ]);
    expect(catalogue.snapshot.clashes).toHaveLength(1);
  });

  it('keeps a URI, once the gateway is ready, until it lists it no more', () => {
    const { catalogue, log } = catalogueOf('a', 'b', 'c');
    catalogue.replace('b', part({ resources: ['x://1'] }));
    catalogue.settle();
    catalogue.replace('a', part({ resources: ['x://1', 'x://2'] }));
    catalogue.replace('c', part({ resources: ['x://1'] }));
    expect(listed(catalogue.snapshot)).toEqual(['b x://1', 'a x://2']);
    expect(log.lines.map(({ fields }) => fields.upstream)).toEqual(['a', 'c']);
    catalogue.forget('b');
    expect(catalogue.snapshot.ownerOf('x://1')).toBe('a');
    catalogue.replace('b', part({ resources: ['x://1'] }));
    expect(catalogue.snapshot.ownerOf('x://1')).toBe('a');
  });

  it('is by template the first in the configuration that matches, after any that lists it', () => {
    const { catalogue } = catalogueOf('a', 'b', 'c');
    catalogue.replace('a', part({ templates: ['x://only/{id}'] }));
    catalogue.replace('b', part({ templates: ['x://{kind}/{id}', 'z://{id}'] }));
    catalogue.replace('c', part({ templates: ['x://{kind}/{id}'], resources: ['x://only/1'] }));
    const { snapshot } = catalogue;
    const uris = ['x://only/1', 'x://only/2', 'x://more/2', 'z://1', 'x://more/2/3'];
    expect(uris.map((uri) => snapshot.ownerOf(uri))).toEqual(['c', 'a', 'b', 'b', undefined]);
    expect(snapshot.items.templates.map(({ key, upstream }) => `${upstream} ${key}`)).toEqual([
      'a x://only/{id}',
      'b x://{kind}/{id}',
      'b z://{id}',
    ]);
    expect(snapshot.templateOwner('x://{kind}/{id}')).toBe('b');
    expect(snapshot.templateOwner('x://{other}')).toBeUndefined();
  });

  it('is else the only upstream with resources, also while it is away', () => {
    const { catalogue } = catalogueOf('a', 'b');
    catalogue.replace('a', part({ tools: ['t'], capabilities: { tools: {} } }));
    expect(catalogue.snapshot.ownerOf('x://1')).toBeUndefined();
    catalogue.replace('b', part({}));
    expect(catalogue.snapshot.ownerOf('x://1')).toBe('b');
    catalogue.forget('b');
    expect(catalogue.snapshot.ownerOf('x://1')).toBe('b');
    catalogue.replace('a', part({}));
    expect(catalogue.snapshot.ownerOf('x://1')).toBeUndefined();
  });

  it('never lies outside its uris', () => {
    const { catalogue } = catalogueOf({ key: 'a', uris: ['file:///data/**', 'x://?'] }, 'b');
    const templates = ['file:///{+path}', 'file:///data/{name}', 'http://{host}'];
    catalogue.replace('a', part({ resources: ['file:///data/1', 'file:///etc/1'], templates }));
    const { snapshot } = catalogue;
    expect(listed(snapshot)).toEqual(['a file:///data/1']);
    expect(snapshot.items.templates.map(({ key }) => key)).toEqual(['file:///data/{name}', 'file:///{+path}']);
    const uris = ['file:///data/2/3', 'file:///etc/1', 'file:///data/../etc/1', 'file:///data/%2e%2e/1', 'http://h'];
    expect(uris.map((uri) => snapshot.ownerOf(uri))).toEqual(['a', undefined, undefined, undefined, undefined]);
  });

  it('property: no URI is listed twice, the lister owns it, and arrival order does not matter before readiness', () => {
    const uris = fc.uniqueArray(fc.constantFrom('x://1', 'x://2', 'x://3'));
    const order = fc.shuffledSubarray(['a', 'b', 'c'], { minLength: 3 });
    fc.assert(
      fc.property(fc.record({ a: uris, b: uris, c: uris }), order, (lists, arrival) => {
        const { catalogue } = catalogueOf('a', 'b', 'c');
        const sorted = catalogueOf('a', 'b', 'c').catalogue;
        for (const key of arrival) catalogue.replace(key, part({ resources: lists[key as 'a'] }));
        for (const key of ['a', 'b', 'c'] as const) sorted.replace(key, part({ resources: lists[key] }));
        const { resources } = catalogue.snapshot.items;
        expect(new Set(resources.map(({ key }) => key))).toEqual(new Set(Object.values(lists).flat()));
        expect(new Set(resources.map(({ key }) => key)).size).toBe(resources.length);
        expect(resources.map(({ key }) => catalogue.snapshot.ownerOf(key))).toEqual(
          resources.map(({ upstream }) => upstream),
        );
        expect(listed(catalogue.snapshot)).toEqual(listed(sorted.snapshot));
      }),
    );
  });
});
