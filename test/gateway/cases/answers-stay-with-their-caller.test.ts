import { expect, test } from 'vitest';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';

const record = recordFile();

test('equal ids on two sockets are answered once each, to the right caller', async () => {
  const { url, ready } = await startGateway({
    mcpServers: { up: stdioUpstream('plain.mjs', [record.path], { isolation: 'shared' }) },
  });
  await ready();
  const [slow, fast] = [await openRaw(url), await openRaw(url)];
  slow.send(toolCall(1, 'up__hold', { key: 'slow' }));
  await expect.poll(() => record.lines()).toContain('holding slow');
  expect(await fast.ask(toolCall(1, 'up__echo', { text: 'fast' }))).toEqual(textAnswer(1, 'fast'));
  expect([await slow.barrier(), await fast.barrier()]).toEqual([[], []]);
  expect(await fast.ask(toolCall(1, 'up__release', { key: 'slow' }))).toEqual(textAnswer(1, 'released'));
  expect(await slow.json()).toEqual(textAnswer(1, 'slow'));
  expect([await slow.barrier(), await fast.barrier()]).toEqual([[], []]);
});
