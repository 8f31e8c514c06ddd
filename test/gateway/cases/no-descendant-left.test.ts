import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { openRaw } from '../../support/raw-client.ts';
import { isAlive } from '../../support/stdio/child.ts';

const record = recordFile();
const slow = recordFile();
const script = resolve('test/support/upstreams/plain.mjs');
const CONNECTIONS = 'mcp_gateway_connections';
const pidsIn = (lines: readonly string[]) =>
  lines.flatMap((line) => (line.startsWith('pid ') ? [Number(line.slice(4))] : []));

test('a server started through a shell is gone after the gateway stopped', async () => {
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
  const pids = pidsIn(record.lines());
  // Each upstream was asked for its era by a child of its own, which is gone.
  expect(pids).toHaveLength(5);
  expect(pids.filter(isAlive)).toHaveLength(3);
  client.socket.terminate();
  await gateway.close();
  expect(pids.filter(isAlive)).toEqual([]);
});

test('and so is one that is slow to go, of a session that left just before', async () => {
  // The configuration makes $$ of $$$$, and the shell its own pid of that.
  const line = `echo "pid $$$$" >> "${slow.path}"; "${process.execPath}" "${script}" "${slow.path}"; exec sleep 60`;
  const quick = stdioUpstream('plain.mjs', [], { isolation: 'shared' });
  const gateway = await startGateway({ mcpServers: { own: { command: 'sh', args: ['-c', line] }, quick } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  const before = pidsIn(slow.lines());
  expect(await client.ask(toolCall(1, 'own__echo', { text: 'x' }))).toEqual(textAnswer(1, 'x'));
  const pids = pidsIn(slow.lines()).filter((pid) => !before.includes(pid));
  expect(pids.map(isAlive)).toEqual([true, true]);
  client.socket.terminate();
  await expect.poll(async () => sampleValue(parseMetrics(await gateway.metrics()), CONNECTIONS)).toBe(0);
  await gateway.close();
  expect(pids.map(isAlive)).toEqual([false, false]);
});
