import { expect, test } from 'vitest';
import { openEra } from '../../support/era-client.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { errorAnswer } from '../../support/messages.ts';
import { connectRaw } from '../../support/raw-client.ts';

test('an upstream with tools only announces tools only', async () => {
  const { url } = await startGateway({ mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) } });
  const client = await connectRaw(url);
  const { result } = (await client.initialize()) as { result: { capabilities: object } };
  expect(result.capabilities).toEqual({ tools: { listChanged: true } });
  for (const method of [
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'resources/subscribe',
    'logging/setLevel',
  ]) {
    const params = { uri: 'a://b', level: 'info' };
    expect(await client.ask({ jsonrpc: '2.0', id: 1, method, params })).toEqual(
      errorAnswer(1, -32601, 'Method not found'),
    );
  }

  const modern = await openEra('modern', url);
  const found = (await modern.ask(1, 'server/discover')) as { result: { capabilities: object } };
  expect(found.result.capabilities).toEqual({ tools: { listChanged: true } });
  for (const method of ['prompts/list', 'resources/list', 'resources/templates/list']) {
    expect(await modern.ask(2, method)).toEqual(errorAnswer(2, -32601, 'Method not found'));
  }
});
