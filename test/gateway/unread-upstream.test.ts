import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { cancellation, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

// Answers until it is called, then never reads again.
const DEAF = `
const answers = { initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'deaf', version: '1' } },
  'tools/list': { tools: [{ name: 'x', inputSchema: { type: 'object' } }] } };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'tools/call') require('node:fs').writeSync(2, 'deaf\\n');
  if (method === 'tools/call') for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  if (answers[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }));
});`;

test('calls to an upstream that does not read are refused once enough of them waits, cancelled or not', async () => {
  const gateway = await startGateway({
    limits: { maxUpstreamMessage: '1MiB' },
    mcpServers: { deaf: { command: process.execPath, args: ['-e', DEAF], isolation: 'shared' } },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  client.send(toolCall('first', 'deaf__x'));
  await expect.poll(() => gateway.log.map(({ fields }) => fields.line)).toContain('deaf');
  const given = { data: 'x'.repeat(500_000) };
  for (let id = 1; id <= 8; id += 1) {
    client.send(toolCall(id, 'deaf__x', given));
    client.send(cancellation(id));
  }
  await client.barrier();
  expect(await client.ask(toolCall('last', 'deaf__x', given))).toMatchObject({
    id: 'last',
    error: { code: -32603, data: { reason: 'at_capacity' } },
  });
});
