import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/catalogue/catalogue.ts';
import { type View, viewOf } from '../../src/catalogue/view.ts';
import type { Grants } from '../../src/policy/access.ts';
import { catalogueOf, part } from '../support/parts.ts';

const OPEN: Grants = { key: 'open', readsArguments: false, decide: () => ({ effect: 'allow', rule: '0' }) };

interface Read {
  readonly text: string;
  readonly names: readonly string[];
  readonly nextCursor: string | undefined;
}

function read(view: View, cursor?: string): Read {
  const page = view.page('tools', 'handshake', cursor);
  if (page === 'bad_cursor') throw new Error('bad cursor');
  const result: { tools: { name: string }[]; nextCursor?: string } = JSON.parse(page.text);
  return { text: page.text, names: result.tools.map(({ name }) => name), nextCursor: result.nextCursor };
}

function walk(view: View): Read[] {
  const pages = [read(view)];
  for (let next = pages[0]?.nextCursor; next !== undefined; next = pages.at(-1)?.nextCursor)
    pages.push(read(view, next));
  return pages;
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `t${String(at).padStart(5, '0')}`);
}

function snapshotOf(tools: readonly string[]): Snapshot {
  const { catalogue } = catalogueOf({ key: 'a', prefix: '' });
  catalogue.replace('a', part({ tools }));
  return catalogue.snapshot;
}

describe('pages', () => {
  it('hold at most 1,000 items; walking the cursors gives every item once', () => {
    const pages = walk(viewOf(snapshotOf(numbered(2_500)), OPEN));
    expect(pages.map(({ names }) => names.length)).toEqual([1_000, 1_000, 500]);
    expect(pages.flatMap(({ names }) => names)).toEqual(numbered(2_500));
    expect(walk(viewOf(snapshotOf(numbered(1_000)), OPEN))).toHaveLength(1);
  });

  it('hold at most 1 MiB, or one item', () => {
    const { catalogue } = catalogueOf('a');
    const { lists, ...rest } = part({ tools: numbered(5) });
    const sizes = [600_000, 400_000, 100_000, 1_200_000, 10];
    const tools = lists.tools.map((item, at) => {
      const filler = 'é'.repeat((sizes[at] ?? 0) / 2);
      return { ...item, text: item.text.replace(/}$/, `,"filler":"${filler}"}`), digest: `${at}` };
    });
    catalogue.replace('a', { ...rest, lists: { ...lists, tools } });
    const pages = walk(viewOf(catalogue.snapshot, OPEN));
    expect(pages.map(({ names }) => names.length)).toEqual([2, 1, 1, 1]);
  });

  it('go on after the last key seen, whatever became of the catalogue', () => {
    const cursor = read(viewOf(snapshotOf(numbered(1_500)), OPEN)).nextCursor;
    const changed = snapshotOf(['t00000', 't00998', 't00999x', 't01200', 'u']);
    expect(read(viewOf(changed, OPEN), cursor)).toMatchObject({
      names: ['t00999x', 't01200', 'u'],
      nextCursor: undefined,
    });
    expect(read(viewOf(snapshotOf([]), OPEN), cursor).text).toBe('{"tools":[]}');
  });

  it.each([
    ['', 'nothing'],
    ['!', 'no base64url'],
    ['bm8', 'no JSON'],
    [Buffer.from('["tools"]').toString('base64url'), 'no key'],
    [Buffer.from('["prompts","t"]').toString('base64url'), 'of another list'],
    [Buffer.from('["tools","t",1]').toString('base64url'), 'too long'],
    [Buffer.from('["tools", "t"]').toString('base64url'), 'spelled otherwise'],
    [`${Buffer.from('["tools","t1"]').toString('base64url')}=`, 'padded'],
  ])('are not to be had for the cursor %j (%s)', (cursor) => {
    expect(viewOf(snapshotOf(['t']), OPEN).page('tools', 'handshake', cursor)).toBe('bad_cursor');
  });

  it('property: any cursor is a page of what comes after its key, or a bad one', () => {
    const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('t00001', 't00002x'));
    fc.assert(
      fc.property(key, (last) => {
        const cursor = Buffer.from(JSON.stringify(['tools', last])).toString('base64url');
        const names = numbered(4);
        expect(read(viewOf(snapshotOf(names), OPEN), cursor).names).toEqual(names.filter((name) => name > last));
      }),
    );
  });
});
