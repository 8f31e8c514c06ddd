import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { errorAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';

test('names of Object.prototype members are unknown tools and prompts', async () => {
  const { url, ready } = await startGateway({
    mcpServers: { up: stdioUpstream('library.mjs', [], { isolation: 'shared', prefix: '' }) },
  });
  await ready();
  const client = await openRaw(url);
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    expect(await client.ask(toolCall(1, name))).toEqual(errorAnswer(1, -32602, `Unknown tool: ${name}`));
    expect(await client.ask({ jsonrpc: '2.0', id: 2, method: 'prompts/get', params: { name } })).toEqual(
      errorAnswer(2, -32602, `Unknown prompt: ${name}`),
    );
  }
});
