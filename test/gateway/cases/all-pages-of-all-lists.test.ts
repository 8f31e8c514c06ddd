import { expect, test } from 'vitest';
import { CLIENT_ERAS, type EraClient, openEra } from '../../support/era-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { type Asked, type Script, scriptedUpstream } from '../../support/scripted-upstream.ts';

const inputSchema = { type: 'object' };
/** So long that the gateway itself needs pages for six: at most 1 MiB on one. */
const description = 'x'.repeat(300 * 1024);
/** The cursors of the second and third page: the empty text is one too. */
const cursors: readonly unknown[] = ['', 'last'];
const LISTS = [
  { method: 'tools/list', items: 'tools', key: 'name', of: (name: string) => name },
  { method: 'prompts/list', items: 'prompts', key: 'name', of: (name: string) => name },
  { method: 'resources/list', items: 'resources', key: 'uri', of: (name: string) => `a://${name}` },
  {
    method: 'resources/templates/list',
    items: 'resourceTemplates',
    key: 'uriTemplate',
    of: (name: string) => `a://${name}/{x}`,
  },
] as const;

/** Every list on as many pages as there are groups of names. */
function paged(...pages: readonly (readonly string[])[]): Script {
  const page =
    ({ items, key, of }: (typeof LISTS)[number]) =>
    ({ params, result }: Asked) => {
      const at = cursors.indexOf(params.cursor) + 1;
      const next = pages[at + 1] === undefined ? {} : { nextCursor: cursors[at] };
      result({ [items]: pages[at]?.map((name) => ({ [key]: of(name), name, description, inputSchema })), ...next });
    };
  return Object.fromEntries(LISTS.map((list) => [list.method, page(list)]));
}

interface Answer {
  readonly result: Readonly<Record<string, unknown>> & { readonly nextCursor?: string };
}

async function walk(client: EraClient, { method, items, key }: (typeof LISTS)[number]) {
  const pages: string[][] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const { result } = (await client.ask(1, method, cursor === undefined ? {} : { cursor })) as Answer;
    const page = result[items] as Record<string, string>[];
    pages.push(page.map((item) => item[key] ?? ''));
    cursor = result.nextCursor;
  }
  return pages;
}

test('a client that follows the cursors gets every page of every upstream, each item once', async () => {
  const three = await scriptedUpstream(paged(['a', 'b'], ['c', 'd'], ['e', 'f']), { isolation: 'shared' });
  const one = await scriptedUpstream(paged(['z']), { isolation: 'shared' });
  const { url, ready } = await startGateway({ mcpServers: { three: three.entry, one: one.entry } });
  await ready();
  for (const era of CLIENT_ERAS) {
    const client = await openEra(era, url);
    for (const list of LISTS) {
      const shown = (upstream: string, name: string) => (list.key === 'name' ? `${upstream}__${name}` : list.of(name));
      const pages = await walk(client, list);
      expect(pages.length).toBeGreaterThan(1);
      expect(pages.flat().sort()).toEqual(
        [...'abcdef']
          .map((name) => shown('three', name))
          .concat(shown('one', 'z'))
          .sort(),
      );
    }
  }
});
