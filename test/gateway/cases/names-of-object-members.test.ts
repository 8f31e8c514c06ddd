import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { errorAnswer } from '../../support/messages.ts';

test('names of Object.prototype members are unknown tools and prompts', async () => {
  const { url, ready } = await startGateway({
    mcpServers: { up: stdioUpstream('library.mjs', [], { isolation: 'shared', prefix: '' }) },
  });
  await ready();
  for (const era of CLIENT_ERAS) {
    const client = await openEra(era, url);
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      expect(await client.ask(1, 'tools/call', { name })).toEqual(errorAnswer(1, -32602, `Unknown tool: ${name}`));
      expect(await client.ask(2, 'prompts/get', { name })).toEqual(errorAnswer(2, -32602, `Unknown prompt: ${name}`));
      expect(await client.ask(3, name)).toEqual(errorAnswer(3, -32601, 'Method not found'));
    }
  }
});
