import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { CLIENT_ERAS, openEra } from '../support/era-client.ts';
import { fileGateway } from '../support/file-gateway.ts';

const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const gateway = fileGateway({
  mcpServers: { everything: { command: process.execPath, args: [everything, 'stdio'], uris: ['demo://**'] } },
});

const Links = z.looseObject({ type: z.literal('resource_link'), uri: z.string() });
const Called = z.looseObject({ result: z.looseObject({ content: z.array(z.unknown()) }) });

test.each(CLIENT_ERAS)('resources that a result links to are read back by a %s client', async (era) => {
  const client = await openEra(era, gateway().url);
  const call = { name: 'everything__get-resource-links', arguments: { count: 2 } };
  const { content } = Called.parse(await client.ask(1, 'tools/call', call)).result;
  const links = content.slice(1).map((each) => Links.parse(each).uri);
  expect(links).toEqual([expect.stringMatching(/^demo:.*\/1$/), expect.stringMatching(/^demo:.*\/2$/)]);
  for (const [at, uri] of links.entries()) {
    expect(await client.ask(`read${at}`, 'resources/read', { uri })).toMatchObject({
      id: `read${at}`,
      result: { contents: [{ uri }] },
    });
  }
});

test.each(CLIENT_ERAS)('a completion for a %s client depends on the arguments given so far', async (era) => {
  const client = await openEra(era, gateway().url);
  const complete = (id: number, department: string) =>
    client.ask(id, 'completion/complete', {
      ref: { type: 'ref/prompt', name: 'everything__completable-prompt' },
      argument: { name: 'name', value: '' },
      context: { arguments: { department } },
    });
  expect(await complete(1, 'Sales')).toMatchObject({ result: { completion: { values: ['David', 'Eve', 'Frank'] } } });
  expect(await complete(2, 'Support')).toMatchObject({ result: { completion: { values: ['John', 'Kim', 'Lee'] } } });
});
