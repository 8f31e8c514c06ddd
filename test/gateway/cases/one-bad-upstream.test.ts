import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { httpLibrary } from '../../support/library.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';

test('a missing command and a refusing server leave the third upstream usable', async () => {
  const refusing = await httpLibrary({ isolation: 'shared' });
  await refusing.stop();
  const { url } = await startGateway({
    mcpServers: {
      missing: { command: 'no-such-command-of-an-mcp-server' },
      refusing: refusing.entry,
      good: stdioUpstream('plain.mjs', [], { isolation: 'shared' }),
    },
  });
  const client = await openRaw(url);
  expect(await client.ask(toolCall(1, 'good__echo', { text: 'at once' }))).toEqual(textAnswer(1, 'at once'));
  await refusing.start();
  await expect
    .poll(() => client.ask(toolCall(2, 'refusing__echo', { text: 'back' })), { timeout: 5000 })
    .toMatchObject({ id: 2, result: { content: [{ type: 'text', text: 'back' }] } });
});
