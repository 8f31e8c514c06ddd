import { expect, test } from 'vitest';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { openRaw } from '../../support/raw-client.ts';

const record = recordFile();

test('200 notifications in a burst cost at most two walks', async () => {
  const gateway = await startGateway({
    mcpServers: { up: stdioUpstream('library.mjs', [record.path], { isolation: 'shared' }) },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  const listed = () => record.lines().filter((line) => line.startsWith('listed tools')).length;
  const before = listed();
  expect(await client.ask(toolCall(1, 'up__burst'))).toEqual(textAnswer(1, 'burst'));
  expect(await client.json()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  const heard = async () =>
    sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_list_changes_total', {
      kind: 'tools',
      stage: 'heard',
    });
  await expect.poll(heard).toBe(200);
  client.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  expect(await client.next()).toContain('"up__added1"');
  expect(await client.ask(toolCall(3, 'up__add'))).toEqual(textAnswer(3, 'added'));
  expect(await client.json()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  expect(await client.barrier()).toEqual([]);
  // The walk for the tool added last is one more.
  expect(listed() - before).toBeLessThanOrEqual(3);
});
