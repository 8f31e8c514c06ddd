import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra, UNCACHED } from '../../support/era-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { scriptedUpstream } from '../../support/scripted-upstream.ts';

const inputSchema = { type: 'object' };
const TOOLS = [
  { name: 'a', inputSchema },
  { name: 'b', inputSchema, outputSchema: { type: 'object', properties: { x: { $ref: '#/$defs/nowhere' } } } },
  { name: 'c', inputSchema: { type: 'object', $ref: 'https://nowhere.invalid/schema.json' } },
  { name: 'd', inputSchema, outputSchema: { type: 'object', pattern: '(', minimum: 'none' } },
];

test('tools beside one whose schema nobody can resolve are listed with it, and all can be called', async () => {
  const up = await scriptedUpstream({
    'tools/list': ({ result }) => result({ tools: TOOLS }),
    'tools/call': ({ params, result }) => result({ content: [], structuredContent: { x: params.name } }),
  });
  const { url, ready } = await startGateway({ mcpServers: { up: up.entry } });
  await ready();
  for (const era of CLIENT_ERAS) {
    const client = await openEra(era, url);
    expect(await client.ask(1, 'tools/list')).toMatchObject(
      client.result(1, { tools: TOOLS.map((tool) => ({ ...tool, name: `up__${tool.name}` })) }, UNCACHED),
    );
    for (const { name } of TOOLS) {
      expect(await client.ask(2, 'tools/call', { name: `up__${name}` })).toEqual(
        client.result(2, { content: [], structuredContent: { x: name } }),
      );
    }
  }
});
