import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { inputRequired, modernRequest } from '../support/modern-messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { type Asked, offering, scriptedUpstream } from '../support/scripted-upstream.ts';

const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };
const ELICITATION = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: FORM };
const BYTES = 1_000_000;

function call(id: number, tool: string, more: object = {}) {
  const capabilities = { elicitation: { form: {} } };
  return modernRequest(id, 'tools/call', { name: `up__${tool}`, arguments: {}, ...more }, { capabilities });
}

test.each<[string, (client: RawClient, requestState: string) => void]>([
  ['takes it up', (client, requestState) => client.send(call(3, 'act', { requestState }))],
  ['is gone', (client) => client.socket.terminate()],
])('an answer that waits for its client to come back counts as waiting for it until it %s', async (_how, leave) => {
  let end = () => {};
  const { entry } = await scriptedUpstream({
    ...offering('act', 'end'),
    'tools/call': ({ params, link, result }: Asked) => {
      if (params.name === 'end') {
        end();
        return result({ content: [] });
      }
      end = () => result({ content: [{ type: 'text', text: 'x'.repeat(BYTES) }] });
      link.send(ELICITATION);
    },
  });
  const gateway = await startGateway({ mcpServers: { up: entry } });
  await gateway.ready();
  const client = await connectRaw(gateway.url);
  const waiting = async () => sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_outbox_bytes', {}) ?? 0;
  const { requestState } = inputRequired(await client.ask(call(1, 'act'))).result;
  expect(await client.ask(call(2, 'end'))).toMatchObject({ id: 2, result: {} });
  await expect.poll(waiting).toBeGreaterThan(BYTES);
  expect(await waiting()).toBeLessThan(BYTES + 1000);
  leave(client, requestState);
  await expect.poll(waiting).toBe(0);
});
