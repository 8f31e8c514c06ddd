import { expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { cancellation, textAnswer, toolCall } from '../support/messages.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';

const up0 = recordFile();
const up1 = recordFile();
const shared = recordFile();
const gateway = fileGateway({
  mcpServers: {
    'up-0': stdioUpstream('plain.mjs', [up0.path]),
    'up-1': stdioUpstream('plain.mjs', [up1.path]),
    shared: stdioUpstream('plain.mjs', [shared.path], { isolation: 'shared' }),
  },
});
const cancelled = (lines: readonly string[]) => lines.filter((line) => line.startsWith('cancelled'));

/** The upstream's own ids of calls that wait in it, once there are `count` of them. */
async function waiting(record: { lines(): string[] }, count: number): Promise<string[]> {
  const ids = () => record.lines().flatMap((line) => /^waiting (\d+)$/.exec(line)?.[1] ?? []);
  await expect.poll(() => ids().length).toBe(count);
  return ids();
}

test('a cancelled call is cancelled at its upstream under that upstream’s id, nowhere else, and gets no answer', async () => {
  const client = await openRaw(gateway().url);
  expect(await client.ask(toolCall(100, 'up-1__echo', { text: 'here' }))).toEqual(textAnswer(100, 'here'));
  client.send(toolCall(101, 'up-0__wait'));
  const [id] = await waiting(up0, 1);
  expect(id).not.toBe('101');
  client.send(cancellation(101, 'not needed any more'));
  await expect.poll(() => cancelled(up0.lines())).toEqual([`cancelled ${id} not needed any more`]);
  expect(await client.ask(toolCall(102, 'up-1__echo', { text: 'still' }))).toEqual(textAnswer(102, 'still'));
  expect(cancelled(up1.lines())).toEqual([]);
  expect(await client.ask(toolCall(101, 'up-0__echo', { text: 'again' }))).toEqual(textAnswer(101, 'again'));
  expect(await client.barrier()).toEqual([]);
});

test('cancelling what is unknown, finished, of another type or another client’s changes nothing', async () => {
  const client = await openRaw(gateway().url);
  const other = await openRaw(gateway().url);
  expect(await client.ask(toolCall(5, 'shared__echo', { text: 'done' }))).toEqual(textAnswer(5, 'done'));
  client.send(toolCall(6, 'shared__hold', { key: 'kept' }));
  await expect.poll(() => shared.lines()).toContain('holding kept');
  for (const id of [5, 99, '6']) client.send(cancellation(id));
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled' });
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: {} } });
  other.send(cancellation(6));
  expect(await other.barrier()).toEqual([]);
  expect(await client.barrier()).toEqual([]);
  expect(await other.ask(toolCall(1, 'shared__release', { key: 'kept' }))).toEqual(textAnswer(1, 'released'));
  expect(await client.json()).toEqual(textAnswer(6, 'kept'));
  expect(cancelled(shared.lines())).toEqual([]);
});

test('initialize cannot be cancelled', async () => {
  const client = await connectRaw(gateway().url);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  client.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  client.send(cancellation(1));
  expect(await client.json()).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
});

test('a closed socket cancels all it had in flight, and only that', async () => {
  const leaver = await openRaw(gateway().url);
  const stayer = await openRaw(gateway().url);
  stayer.send(toolCall(1, 'shared__hold', { key: 'stayer' }));
  await expect.poll(() => shared.lines()).toContain('holding stayer');
  leaver.send(toolCall(1, 'shared__wait'));
  leaver.send(toolCall(2, 'shared__wait'));
  leaver.send(toolCall(3, 'up-0__wait'));
  const onShared = await waiting(shared, 2);
  const [, onUp0] = await waiting(up0, 2);
  leaver.socket.terminate();
  await expect.poll(() => cancelled(shared.lines())).toEqual(onShared.map((id) => `cancelled ${id} undefined`));
  await expect.poll(() => cancelled(up0.lines())).toContain(`cancelled ${onUp0} undefined`);
  stayer.send(toolCall(2, 'shared__release', { key: 'stayer' }));
  expect(await stayer.json()).toEqual(textAnswer(1, 'stayer'));
});
