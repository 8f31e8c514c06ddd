import { describe, expect, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';

const gateway = fileGateway({
  timing: { listChangeCoalesce: '0ms' },
  mcpServers: {
    own: stdioUpstream('fixture.mjs'),
    all: stdioUpstream('fixture.mjs', [], { isolation: 'shared' }),
  },
});
const progress = (progressToken: string | number, value: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken, progress: value, total: 3 },
});
const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } },
};

async function frames(client: RawClient, count: number): Promise<unknown[]> {
  const read = [];
  while (read.length < count) read.push(await client.json());
  return read;
}

describe('progress', () => {
  test.each(['tok-1', 7, 0, '7', ''])(
    'comes before its result, strictly increasing, under exactly the caller’s token: %j',
    async (token) => {
      const client = await openRaw(gateway().url);
      for (const upstream of ['own', 'all']) {
        client.send(toolCall(1, `${upstream}__progress`, {}, { progressToken: token }));
        const told = [progress(token, 1), progress(token, 2), progress(token, 3)];
        expect(await frames(client, 4)).toEqual([...told, textAnswer(1, 'done')]);
      }
      expect(await client.barrier()).toEqual([]);
    },
  );

  test('does not come where none was asked for', async () => {
    const client = await openRaw(gateway().url);
    for (const upstream of ['own', 'all']) {
      expect(await client.ask(toolCall(1, `${upstream}__progress`))).toEqual(textAnswer(1, 'done'));
    }
    expect(await client.barrier()).toEqual([]);
  });

  test('of two callers with one token goes to each his own', async () => {
    const [one, two] = [await openRaw(gateway().url), await openRaw(gateway().url)];
    const call = toolCall(1, 'all__progress', {}, { progressToken: 't' });
    one.send(call);
    two.send(call);
    const expected = [progress('t', 1), progress('t', 2), progress('t', 3), textAnswer(1, 'done')];
    expect([await frames(one, 4), await frames(two, 4)]).toEqual([expected, expected]);
  });
});

test('what is sent right behind initialize is answered after it, in order', async () => {
  const own = await startGateway({ mcpServers: { up: stdioUpstream('fixture.mjs', [], { isolation: 'shared' }) } });
  const client = await connectRaw(own.url);
  client.send(initialize);
  client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  client.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
  client.send(toolCall(2, 'up__echo', { text: 'two' }));
  client.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} });
  client.send(toolCall(3, 'up__echo', { text: 'three' }));
  expect(await frames(client, 5)).toMatchObject([
    { id: 0, result: { protocolVersion: '2025-11-25' } },
    { id: 1, result: {} },
    { id: 0, error: { code: -32600, message: 'Already initialized' } },
    textAnswer(2, 'two'),
    textAnswer(3, 'three'),
  ]);
});

test('a list change is held until the client says that it is initialized, and told once', async () => {
  const early = await connectRaw(gateway().url);
  const other = await openRaw(gateway().url);
  expect(await early.ask(initialize)).toMatchObject({ id: 0, result: {} });
  const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
  other.send(toolCall(1, 'all__add'));
  const heard = [await other.next(), await other.next()];
  expect(heard).toContain(changed);
  expect(await early.barrier()).toEqual([]);
  early.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expect(await early.next()).toBe(changed);
  expect(await early.barrier()).toEqual([]);
  expect(await other.barrier()).toEqual([]);
});
