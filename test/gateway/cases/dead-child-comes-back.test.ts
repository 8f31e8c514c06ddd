import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';

test('a call succeeds again after the child was killed', async () => {
  const { url, ready } = await startGateway({
    mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) },
  });
  await ready();
  const client = await openRaw(url);
  const answer = await client.ask(toolCall(1, 'up__pid'));
  const pid = (answer as { result: { content: [{ text: string }] } }).result.content[0].text;
  process.kill(Number(pid), 'SIGKILL');
  await expect
    .poll(() => client.ask(toolCall(2, 'up__echo', { text: 'back' })), { timeout: 5000 })
    .toEqual(textAnswer(2, 'back'));
  expect(await client.ask(toolCall(3, 'up__pid'))).not.toEqual(textAnswer(3, pid));
});
