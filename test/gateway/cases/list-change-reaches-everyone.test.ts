import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';

test('an added tool is announced once to each of three sockets and then listed', async () => {
  const { url, ready } = await startGateway({
    mcpServers: { up: stdioUpstream('fixture.mjs', [], { isolation: 'shared' }) },
  });
  await ready();
  const clients = [await openRaw(url), await openRaw(url), await openRaw(url)];
  expect(await clients[0]?.ask(toolCall(1, 'up__add'))).toEqual(textAnswer(1, 'added1'));
  for (const client of clients) {
    expect(await client.json()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  }
  for (const client of clients) {
    expect(await client.barrier()).toEqual([]);
    client.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect(await client.next()).toContain('"up__added1"');
  }
});
