import { describe, expect, it } from 'vitest';
import type { SeenPart, Snapshot } from '../../src/catalogue/catalogue.ts';
import { readList } from '../../src/catalogue/definitions.ts';
import type { ItemKind } from '../../src/ports/meter.ts';
import { catalogueOf, part } from '../support/parts.ts';

function keys({ items }: Snapshot, kind: ItemKind): string[] {
  return items[kind].map(({ key }) => key);
}

describe('the catalogue', () => {
  it('merges tools and prompts under public names, sorted by code unit', () => {
    const { catalogue } = catalogueOf('b', { key: 'a', prefix: '' });
    catalogue.replace('b', part({ tools: ['y', 'X'], prompts: ['p'] }));
    catalogue.replace('a', part({ tools: ['z', 'Z'] }));
    expect(keys(catalogue.snapshot, 'tools')).toEqual(['Z', 'b__X', 'b__y', 'z']);
    expect(keys(catalogue.snapshot, 'prompts')).toEqual(['b__p']);
    expect(catalogue.snapshot.tools.resolve('b__X')).toEqual({ upstream: 'b', original: 'X' });
    expect(catalogue.snapshot.prompts.resolve('b__X')).toBeUndefined();
    expect(catalogue.snapshot.items.tools[1]?.text).toBe('{"name":"b__X"}');
  });

  it('keeps every tool where public names collide', () => {
    const { catalogue } = catalogueOf({ key: 'one', prefix: '' }, { key: 'two', prefix: 'x' });
    catalogue.replace('two', part({ tools: ['a'] }));
    catalogue.replace('one', part({ tools: ['x__a'] }));
    expect(catalogue.snapshot.tools.resolve('x__a')).toEqual({ upstream: 'one', original: 'x__a' });
    expect(keys(catalogue.snapshot, 'tools')[1]).toMatch(/^x__a_[0-9a-f]{8}$/);
  });

  it('says which kinds changed; templates are resources', () => {
    const { catalogue } = catalogueOf('a');
    expect(catalogue.replace('a', part({ tools: ['t'], prompts: ['p'] }))).toEqual(['tools', 'prompts']);
    expect(catalogue.replace('a', part({ tools: ['t'], prompts: ['p'], templates: ['x://{y}'] }))).toEqual([
      'resources',
    ]);
    expect(catalogue.replace('a', part({ prompts: ['p'], templates: ['x://{y}'] }))).toEqual(['tools']);
  });

  it('keeps its snapshot when a walk finds no difference, or only another order', () => {
    const { catalogue } = catalogueOf('a');
    catalogue.replace('a', part({ tools: ['t', 'u'] }));
    const before = catalogue.snapshot;
    expect(catalogue.replace('a', part({ tools: ['t', 'u'] }))).toEqual([]);
    expect(catalogue.snapshot).toBe(before);
    expect(catalogue.replace('a', part({ tools: ['u', 't'] }))).toEqual([]);
  });

  it('sees a definition whose text changed under the same name', () => {
    const { catalogue } = catalogueOf('a');
    catalogue.replace('a', part({ tools: ['t'], revision: 1 }));
    const before = catalogue.snapshot;
    expect(catalogue.replace('a', part({ tools: ['t'], revision: 2 }))).toEqual(['tools']);
    expect(catalogue.snapshot.version).toBeGreaterThan(before.version);
    expect(before.items.tools[0]?.text).toBe('{"name":"a__t","revision":1}');
    expect(catalogue.snapshot.items.tools[0]?.text).toBe('{"name":"a__t","revision":2}');
  });

  it('takes in new capabilities and instructions without calling them a change of a list', () => {
    const { catalogue } = catalogueOf('a');
    catalogue.replace('a', part({ tools: ['t'] }));
    const { version } = catalogue.snapshot;
    expect(catalogue.replace('a', part({ tools: ['t'], instructions: 'Be brief.' }))).toEqual([]);
    expect(catalogue.snapshot.version).toBe(version + 1);
  });

  it('spells a kept definition anew for handshake clients when its upstream changes its era', () => {
    const { catalogue } = catalogueOf('a');
    const tools = readList('{"tools":[{"name":"t","outputSchema":{"type":"string"}}]}', 'tools');
    const seen = part({});
    const listed = (era: SeenPart['era']): SeenPart => {
      return { ...seen, era, lists: { ...seen.lists, tools: tools === 'not_a_list' ? [] : tools.items } };
    };
    const spelled = (era: SeenPart['era']) => {
      catalogue.replace('a', listed(era));
      return catalogue.snapshot.items.tools.map(({ handshakeText }) => handshakeText);
    };
    expect(spelled('handshake')).toEqual(['{"name":"a__t","outputSchema":{"type":"string"}}']);
    expect(spelled('modern')).toEqual(['{"name":"a__t"}']);
    expect(spelled('handshake')).toEqual(['{"name":"a__t","outputSchema":{"type":"string"}}']);
  });

  it('forgets one upstream and hides no other', () => {
    const { catalogue } = catalogueOf('a', 'b', 'c');
    catalogue.replace('a', part({ tools: ['t'] }));
    catalogue.replace('b', part({ tools: ['t'] }));
    expect(catalogue.forget('a')).toEqual(['tools']);
    expect(keys(catalogue.snapshot, 'tools')).toEqual(['b__t']);
    expect(catalogue.listsOf('a').tools).toEqual([]);
    expect([catalogue.forget('a'), catalogue.forget('c')]).toEqual([[], []]);
    expect(catalogue.replace('a', part({ tools: ['t'] }))).toEqual(['tools']);
  });

  it('measures what each upstream has in the merged lists', () => {
    const { catalogue, meter } = catalogueOf('a', 'b');
    catalogue.replace('a', part({ tools: ['t', 'u'], resources: ['x://1'] }));
    catalogue.replace('b', part({ resources: ['x://1', 'x://2'], templates: ['y://{z}'] }));
    const read = (kind: string, upstream: string) => meter.read('catalogue_items', { kind, upstream });
    expect([read('tools', 'a'), read('resources', 'a'), read('templates', 'a')]).toEqual([2, 1, 0]);
    expect([read('tools', 'b'), read('resources', 'b'), read('templates', 'b')]).toEqual([0, 1, 1]);
    catalogue.forget('a');
    expect([read('tools', 'a'), read('resources', 'a'), read('resources', 'b')]).toEqual([0, 0, 2]);
  });
});
