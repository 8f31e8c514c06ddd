import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';
import { isAlive } from '../../support/stdio/child.ts';

const record = recordFile();

test('a server started through a shell is gone after the gateway stopped', async () => {
  const script = resolve('test/support/upstreams/plain.mjs');
  const line = `"${process.execPath}" "${script}" "${record.path}"; true`;
  const gateway = await startGateway({
    mcpServers: {
      own: { command: 'sh', args: ['-c', line] },
      all: { command: 'sh', args: ['-c', line], isolation: 'shared' },
    },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  expect(await client.ask(toolCall(1, 'own__echo', { text: 'x' }))).toEqual(textAnswer(1, 'x'));
  const pids = record.lines().flatMap((said) => (said.startsWith('pid ') ? [Number(said.slice(4))] : []));
  expect(pids).toHaveLength(3);
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  client.socket.terminate();
  await gateway.close();
  expect(pids.map(isAlive)).toEqual([false, false, false]);
});
