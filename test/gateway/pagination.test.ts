import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';

const listing = (options: { pages: readonly string[]; endless?: boolean }) =>
  stdioUpstream('lists.mjs', ['', JSON.stringify(options)], { isolation: 'shared' });
const inputSchema = { type: 'object' };
const tools = (...names: readonly string[]) => JSON.stringify(names.map((name) => ({ name, inputSchema })));

interface Page {
  readonly tools: readonly { readonly name: string }[];
  readonly nextCursor?: string;
}

async function page(client: RawClient, cursor?: string): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor };
  const answer = await client.ask({ jsonrpc: '2.0', id: 1, method: 'tools/list', params });
  return (answer as { result: Page }).result;
}

/** The names on each page, cursor after cursor. */
async function walk(client: RawClient): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const { tools: listed, nextCursor } = await page(client, cursor);
    pages.push(listed.map(({ name }) => name));
    cursor = nextCursor;
  } while (cursor !== undefined);
  return pages;
}

test('every page of an upstream is listed, each tool once, beside those of an upstream without pages', async () => {
  const { url, ready } = await startGateway({
    mcpServers: {
      paged: listing({ pages: [tools('a', 'b'), tools('c', 'd'), tools('e', 'b')] }),
      whole: listing({ pages: [tools('z')] }),
    },
  });
  await ready();
  const client = await openRaw(url);
  expect(await walk(client)).toEqual([['paged__a', 'paged__b', 'paged__c', 'paged__d', 'paged__e', 'whole__z']]);
  expect(await client.ask(toolCall(2, 'paged__e'))).toEqual(textAnswer(2, 'e'));
});

test('2,500 tools come on three pages, in order, each once, and the last is callable', async () => {
  const number = (at: number) => `t${String(at).padStart(4, '0')}`;
  const names = Array.from({ length: 2500 }, (_, at) => number(at));
  const bare = JSON.stringify(names.map((name) => ({ name })));
  const { url, ready } = await startGateway({ mcpServers: { many: listing({ pages: [bare] }) } });
  await ready();
  const client = await openRaw(url, { odd: 'with an inputSchema each they would be too long for an argument' });
  const pages = await walk(client);
  expect(pages.map(({ length }) => length)).toEqual([1000, 1000, 500]);
  expect(pages.flat()).toEqual(names.map((name) => `many__${name}`));
  expect(await client.ask(toolCall(2, 'many__t2499'))).toEqual(textAnswer(2, 't2499'));
});

test('a cursor the gateway did not write for this list is refused', async () => {
  const { url, ready } = await startGateway({
    mcpServers: { one: stdioUpstream('library.mjs', [], { isolation: 'shared' }) },
  });
  await ready();
  const client = await openRaw(url);
  const ofTools = Buffer.from('["tools","one__add"]').toString('base64url');
  const list = (method: string, cursor: unknown) => client.ask({ jsonrpc: '2.0', id: 1, method, params: { cursor } });
  expect(await list('tools/list', ofTools)).toMatchObject({
    id: 1,
    result: { tools: [{ name: 'one__burst' }, {}, {}, {}, {}, {}] },
  });
  for (const cursor of ['', '0', 'c1', `${ofTools}=`, 'W10', 7, null, {}]) {
    expect(await list('tools/list', cursor)).toEqual(errorAnswer(1, -32602, 'Invalid cursor'));
  }
  for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) {
    expect(await list(method, ofTools)).toEqual(errorAnswer(1, -32602, 'Invalid cursor'));
  }
});

test('a list without end is cut and logged, and what came before the cut is callable', async () => {
  const { url, ready, log } = await startGateway({
    mcpServers: {
      endless: listing({ pages: [tools('first'), tools('second')], endless: true }),
      good: listing({ pages: [tools('echo')] }),
    },
  });
  await ready();
  const client = await openRaw(url);
  expect(await walk(client)).toEqual([['endless__first', 'endless__second', 'good__echo']]);
  expect(log.filter(({ event }) => event === 'list_cut').map(({ fields }) => fields)).toEqual([
    { upstream: 'endless', kind: 'tools', reason: 'pages', pages: 1000, kept: 2 },
  ]);
  expect(await client.ask(toolCall(2, 'endless__second'))).toEqual(textAnswer(2, 'second'));
});

test('malformed definitions are skipped and logged; a schema nobody can resolve is the client’s to judge', async () => {
  const dangling = '{"name":"dangling","outputSchema":{"$ref":"#/$defs/nowhere"}}';
  const definitions = `[{"name":"a"},7,{"title":"nameless"},${dangling},{"name":"b","NAME":"c"},{"name":"a"},{"name":"d","vendor":1e400}]`;
  const { url, ready, log } = await startGateway({
    mcpServers: { odd: listing({ pages: [definitions, tools('next')] }) },
  });
  await ready();
  const client = await openRaw(url, { odd: 'its tools have no inputSchema' });
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  expect(await client.next()).toBe(
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"odd__a"},{"name":"odd__d","vendor":1e400},' +
      '{"name":"odd__dangling","outputSchema":{"$ref":"#/$defs/nowhere"}},{"name":"odd__next","inputSchema":{"type":"object"}}]}}',
  );
  expect(log.filter(({ event }) => event === 'definitions_skipped').map(({ fields }) => fields)).toEqual([
    { upstream: 'odd', kind: 'tools', not_an_object: 1, no_name: 1, ambiguous: 1, repeated: 1 },
  ]);
  for (const name of ['a', 'd', 'dangling', 'next']) {
    expect(await client.ask(toolCall(2, `odd__${name}`))).toEqual(textAnswer(2, name));
  }
});
