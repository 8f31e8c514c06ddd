import { expect, test } from 'vitest';
import { fakeClock } from '../../support/fake-clock.ts';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';
import { isAlive } from '../../support/stdio/child.ts';

const record = recordFile();

test('the child of a client that vanished without a word is gone within a ping and its answer’s time, a call under way or not', async () => {
  const clock = fakeClock();
  const limits = { pingInterval: '25s', pongTimeout: '10s' };
  const mcpServers = { up: stdioUpstream('plain.mjs', [record.path], { maxTimeout: '60m', timeout: '60m' }) };
  const gateway = await startGateway({ limits, mcpServers }, clock);
  await gateway.ready();
  const client = await openRaw(gateway.url);
  client.send(toolCall(1, 'up__wait'));
  await expect.poll(() => record.lines()).toContain('called wait');
  const [pid] = record
    .lines()
    .flatMap((line) => /^pid (\d+)$/.exec(line)?.[1] ?? [])
    .slice(-1);
  expect(isAlive(pid)).toBe(true);
  // Neither reads nor answers a ping any more; no FIN is sent.
  client.socket.pause();
  const from = clock.elapsed();
  const open = async () => {
    clock.advance(1000);
    return /^mcp_gateway_connections (\d+)$/m.exec(await gateway.metrics())?.[1];
  };
  await expect.poll(open, { timeout: 15_000, interval: 20 }).toBe('0');
  const passed = clock.elapsed() - from;
  await expect.poll(() => isAlive(pid), { timeout: 5000 }).toBe(false);
  expect(passed).toBeGreaterThanOrEqual(20_000);
  expect(passed).toBeLessThanOrEqual(45_000);
});
