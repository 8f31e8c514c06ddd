import { expect, test } from 'vitest';
import { openEra } from '../../support/era-client.ts';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../../support/messages.ts';
import { connectRaw } from '../../support/raw-client.ts';

const record = recordFile();
const call = (id: number) => toolCall(id, 'up__echo', { text: 'x' });
const { jsonrpc: _version, ...unversioned } = call(1);
const invalid = errorAnswer(null, -32600, 'Invalid Request');
const FRAMES = [
  [call(1), call(2)],
  [call(1)],
  [],
  [{ jsonrpc: '2.0', method: 'notifications/initialized' }],
  { ...call(1), jsonrpc: '1.0' },
  { ...call(1), jsonrpc: 2 },
  { ...call(1), jsonrpc: '2.0 ' },
  unversioned,
];

test('an array is one invalid request but in the one revision with batches, and any jsonrpc but 2.0 is one everywhere', async () => {
  const { url, ready } = await startGateway({
    mcpServers: { up: stdioUpstream('plain.mjs', [record.path], { isolation: 'shared' }) },
  });
  await ready();
  const openings = ['2025-11-25', '2025-06-18', '2024-11-05', '2024-10-07'].map((revision) => async () => {
    const raw = await connectRaw(url);
    await raw.initialize(revision);
    return raw;
  });
  const modern = async () => {
    const { raw, ask } = await openEra('modern', url);
    expect(await ask(0, 'tools/list')).toMatchObject({ id: 0, result: {} });
    return raw;
  };
  for (const open of [...openings, modern, () => connectRaw(url)]) {
    const client = await open();
    for (const frame of FRAMES) {
      expect(await client.ask(frame)).toEqual(invalid);
      // One answer and no other: the next is that of the next request.
      expect(await client.ask({ jsonrpc: '2.0', id: 9, method: 'ping' })).toMatchObject({ id: 9 });
    }
  }
  expect(record.lines().filter((line) => line.startsWith('called'))).toEqual([]);

  const client = await connectRaw(url);
  await client.initialize('2025-03-26');
  const batch = [call(1), { ...call(2), jsonrpc: '1.0' }, call(3), 7, unversioned];
  const answers = await client.ask(batch);
  expect(answers).toHaveLength(5);
  expect(answers).toEqual(expect.arrayContaining([textAnswer(1, 'x'), textAnswer(3, 'x'), invalid, invalid, invalid]));
  expect(await client.ask([])).toEqual(invalid);
  expect(await client.ask({ ...call(1), jsonrpc: '1.0' })).toEqual(invalid);
  expect(await client.ask(call(1))).toEqual(textAnswer(1, 'x'));
  expect(await client.barrier()).toEqual([]);
});
