import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { openRaw } from '../../support/raw-client.ts';

test('text on stdout before and between messages does not disturb a call', async () => {
  const options = {
    pages: ['[{"name":"echo"}]'],
    noise: ['Server starting...', '', '{"level":30,"msg":"ready"}', '[]', '{'],
  };
  const gateway = await startGateway({
    mcpServers: { up: stdioUpstream('lists.mjs', ['', JSON.stringify(options)], { isolation: 'shared' }) },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  expect(await client.ask(toolCall(1, 'up__echo'))).toEqual(textAnswer(1, 'echo'));
  expect(await client.ask(toolCall(2, 'up__echo'))).toEqual(textAnswer(2, 'echo'));
  expect(await client.barrier()).toEqual([]);
  const counted = parseMetrics(await gateway.metrics());
  const labels = { source: 'upstream', kind: 'noise' };
  expect(sampleValue(counted, 'mcp_gateway_unexpected_answers_total', labels)).toBeGreaterThanOrEqual(4 * 4);
});
