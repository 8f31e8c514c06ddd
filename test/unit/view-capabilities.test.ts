import { describe, expect, it } from 'vitest';
import { viewOf } from '../../src/catalogue/view.ts';
import type { Grants } from '../../src/policy/access.ts';
import { catalogueOf, part } from '../support/parts.ts';

const LISTS = { tools: { listChanged: true }, resources: { listChanged: true }, prompts: { listChanged: true } };

/** Lets a principal see these upstreams alone. */
function seeing(...upstreams: string[]): Grants {
  return {
    key: JSON.stringify(upstreams),
    readsArguments: false,
    decide: ({ upstream }) => ({ effect: upstreams.includes(upstream) ? 'allow' : 'deny', rule: '0' }),
  };
}

describe('the capabilities of a view', () => {
  it('count an upstream not seen yet as having tools, resources and prompts', () => {
    const { catalogue } = catalogueOf('a');
    const view = viewOf(catalogue.snapshot, seeing('a'));
    expect(view.capabilities).toEqual(LISTS);
    expect([view.has('tools'), view.has('templates'), view.instructions]).toEqual([true, true, undefined]);
  });

  it('are what the upstreams in view announce, list changes always', () => {
    const { catalogue } = catalogueOf('a', 'b');
    const full = { resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} };
    catalogue.replace('a', part({ tools: ['t'], capabilities: { tools: {} }, instructions: 'Of a.' }));
    catalogue.replace('b', part({ resources: ['x://b'], capabilities: full, instructions: ' Of b.\n' }));
    const narrow = viewOf(catalogue.snapshot, seeing('a'));
    expect(narrow.capabilities).toEqual({ tools: { listChanged: true } });
    expect([narrow.has('tools'), narrow.has('resources'), narrow.has('templates')]).toEqual([true, false, false]);
    expect(narrow.instructions).toBe('# a\n\nOf a.');
    const wide = viewOf(catalogue.snapshot, seeing('a', 'b'));
    expect(wide.capabilities).toEqual({
      ...LISTS,
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
    });
    expect(wide.instructions).toBe('# a\n\nOf a.\n\n# b\n\nOf b.');
  });

  it('announce logging only where sessions have links of their own', () => {
    const { catalogue } = catalogueOf({ key: 'a', isolation: 'shared' });
    catalogue.replace('a', part({ tools: ['t'], capabilities: { tools: {}, logging: {} } }));
    expect(viewOf(catalogue.snapshot, seeing('a')).capabilities).toEqual({ tools: { listChanged: true } });
  });

  it('keep what an upstream without a definition announced, since some may come', () => {
    const { catalogue } = catalogueOf('a');
    catalogue.replace('a', part({ capabilities: { tools: {} }, instructions: 'Not yet.' }));
    const view = viewOf(catalogue.snapshot, seeing('a'));
    expect([view.capabilities, view.instructions]).toEqual([{ tools: { listChanged: true } }, undefined]);
    catalogue.replace('a', part({ prompts: ['p'], capabilities: { prompts: {} } }));
    catalogue.forget('a');
    expect(viewOf(catalogue.snapshot, seeing('a')).capabilities).toEqual({ prompts: { listChanged: true } });
  });
});
