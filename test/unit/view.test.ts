import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/catalogue/catalogue.ts';
import { viewOf } from '../../src/catalogue/view.ts';
import { compilePolicy, type Grants } from '../../src/policy/access.ts';
import type { PolicyRule } from '../../src/policy/rule.ts';
import { catalogueOf, part } from '../support/parts.ts';

function grantsOf(rules: readonly PolicyRule[], roles: readonly string[] = []): Grants {
  const result = compilePolicy(rules, 'jwt');
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const identity = { issuer: 'i', id: 'u', roles, scopes: [], claims: {}, expiresAt: null };
  return result.policy.grants({ ...identity, address: '127.0.0.1', via: 'websocket' });
}

const EVERYTHING = grantsOf([{ allow: { tools: ['**'], resources: ['**'], prompts: ['**'] } }]);
const NOTHING = grantsOf([]);

function shown(snapshot: Snapshot, grants: Grants): string[] {
  const view = viewOf(snapshot, grants);
  return (['tools', 'resources', 'templates', 'prompts'] as const).map((kind) => {
    const page = view.page(kind, 'handshake');
    return page === 'bad_cursor' ? page : page.text;
  });
}

describe('a view', () => {
  it('is the ready text of each list, renamed and sorted', () => {
    const { catalogue } = catalogueOf('b', 'a');
    catalogue.replace('b', part({ tools: ['t'], resources: ['x://b'], templates: ['x://{b}'], prompts: ['p'] }));
    catalogue.replace('a', part({ tools: ['t'], resources: ['x://a'] }));
    expect(shown(catalogue.snapshot, EVERYTHING)).toEqual([
      '{"tools":[{"name":"a__t"},{"name":"b__t"}]}',
      '{"resources":[{"uri":"x://a"},{"uri":"x://b"}]}',
      '{"resourceTemplates":[{"uriTemplate":"x://{b}"}]}',
      '{"prompts":[{"name":"b__p"}]}',
    ]);
  });

  it('holds what is allowed and what depends on arguments, and nothing else', () => {
    const { catalogue } = catalogueOf('a', 'b');
    catalogue.replace('a', part({ tools: ['get', 'put', 'drop'], resources: ['x://1', 'x://2'], prompts: ['p'] }));
    catalogue.replace('b', part({ tools: ['get'], templates: ['x://{b}'] }));
    const grants = grantsOf([
      { allow: { tools: ['a/*'], resources: ['x://1'] } },
      { deny: { tools: ['*/drop'] } },
      { deny: { tools: ['a/put'] }, when: 'arguments.path == "x"' },
    ]);
    expect(shown(catalogue.snapshot, grants)).toEqual([
      '{"tools":[{"name":"a__get"},{"name":"a__put"}]}',
      '{"resources":[{"uri":"x://1"}]}',
      '{"resourceTemplates":[]}',
      '{"prompts":[]}',
    ]);
    const view = viewOf(catalogue.snapshot, grants);
    expect(view.tool('a__put')).toEqual({ upstream: 'a', original: 'put' });
    expect([view.tool('a__drop'), view.tool('b__get'), view.tool('put'), view.prompt('a__p')]).toEqual(
      Array(4).fill(undefined),
    );
    expect(viewOf(catalogue.snapshot, EVERYTHING).prompt('a__p')).toEqual({ upstream: 'a', original: 'p' });
  });

  it('is one object for all whose grants have one key, and so are its pages', () => {
    const { catalogue } = catalogueOf('a');
    catalogue.replace('a', part({ tools: ['t'] }));
    const view = viewOf(catalogue.snapshot, grantsOf([{ allow: { tools: ['**'] } }]));
    expect(viewOf(catalogue.snapshot, grantsOf([{ allow: { tools: ['**'] } }]))).toBe(view);
    expect(viewOf(catalogue.snapshot, NOTHING)).not.toBe(view);
    expect(view.page('tools', 'handshake')).toBe(view.page('tools', 'handshake'));
  });

  it('is remembered for the 256 keys used last', () => {
    const { snapshot } = catalogueOf('a').catalogue;
    const keyed = (key: string): Grants => ({ ...NOTHING, key });
    const [first, second] = [viewOf(snapshot, keyed('1')), viewOf(snapshot, keyed('2'))];
    for (let key = 3; key <= 256; key += 1) viewOf(snapshot, keyed(`${key}`));
    expect(viewOf(snapshot, keyed('1'))).toBe(first);
    viewOf(snapshot, keyed('257'));
    expect(viewOf(snapshot, keyed('1'))).toBe(first);
    expect(viewOf(snapshot, keyed('2'))).not.toBe(second);
  });

  it('has a digest that changes with what it shows and with nothing else', () => {
    const { catalogue } = catalogueOf('a', 'b');
    const grants = grantsOf([{ allow: { tools: ['a/*'], resources: ['**'] } }]);
    const digests = () => {
      const view = viewOf(catalogue.snapshot, grants);
      return { tools: view.digest('tools'), resources: view.digest('resources') };
    };
    catalogue.replace('a', part({ tools: ['t'], revision: 1 }));
    const first = digests();
    catalogue.replace('b', part({ tools: ['hidden'] }));
    expect(digests()).toEqual(first);
    catalogue.replace('b', part({ templates: ['x://{b}'] }));
    const second = digests();
    expect([second.tools === first.tools, second.resources === first.resources]).toEqual([true, false]);
    catalogue.replace('a', part({ tools: ['t'], revision: 2 }));
    expect(digests().tools).not.toBe(first.tools);
    catalogue.replace('a', part({ tools: ['t'], revision: 1 }));
    expect(digests()).toEqual(second);
  });

  it('property: what is denied shows nowhere', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-d]{1,2}$/));
    const listed = fc.record({ tools: names, prompts: names });
    const pattern = fc.constantFrom('**', 'up/*', 'up/a*', 'up/b', 'other/*');
    const targets = fc.record({ tools: fc.array(pattern), prompts: fc.array(pattern) });
    fc.assert(
      fc.property(listed, listed, targets, targets, (up, other, allow, deny) => {
        const { catalogue } = catalogueOf('up', 'other');
        catalogue.replace('up', part(up));
        catalogue.replace('other', part(other));
        const grants = grantsOf([{ allow }, { deny }]);
        const view = viewOf(catalogue.snapshot, grants);
        for (const kind of ['tools', 'prompts'] as const) {
          const page = view.page(kind, 'handshake');
          const text = page === 'bad_cursor' ? page : page.text;
          const seen: Record<string, { name: string }[]> = JSON.parse(text);
          const allowed = catalogue.snapshot.items[kind].filter(
            ({ upstream, original: name }) => grants.decide({ kind, upstream, name }).effect !== 'deny',
          );
          expect(seen[kind]?.map(({ name }) => name)).toEqual(allowed.map(({ key }) => key));
        }
      }),
    );
  });
});
