import { expect, test } from 'vitest';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { openRaw } from '../../support/raw-client.ts';
import { isAlive } from '../../support/stdio/child.ts';

const record = recordFile();
const LIMITS = { pingInterval: '2s', pongTimeout: '1s' };

test('a peer that answers no ping is terminated within two intervals, its session and all that was its own gone', async () => {
  const own = stdioUpstream('plain.mjs', [record.path]);
  const gateway = await startGateway({ limits: LIMITS, mcpServers: { up: own } });
  await gateway.ready();
  const gauge = async (name: string, labels = {}) =>
    sampleValue(parseMetrics(await gateway.metrics()), `mcp_gateway_${name}`, labels);
  const [vanishing, staying] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  vanishing.send(toolCall(1, 'up__wait'));
  await expect.poll(() => record.lines().some((line) => line.startsWith('waiting'))).toBe(true);
  const children = record.lines().flatMap((line) => /^pid (\d+)$/.exec(line)?.[1] ?? []);
  expect(await gauge('connections')).toBe(2);
  expect(await gauge('links', { upstream: 'up', isolation: 'session' })).toBe(1);
  const start = performance.now();
  vanishing.socket.pause();
  await expect.poll(() => gauge('connections'), { timeout: 8000, interval: 20 }).toBe(1);
  expect(performance.now() - start).toBeLessThan(4000);
  expect(await gauge('connections_closed_total', { code: '1006', by: 'gateway' })).toBe(1);
  expect(await gauge('inflight_requests')).toBe(0);
  await expect.poll(() => gauge('links', { upstream: 'up', isolation: 'session' })).toBe(0);
  await expect.poll(() => children.filter(isAlive)).toHaveLength(1);
  expect(await staying.ask(toolCall(2, 'up__echo', { text: 'here' }))).toEqual(textAnswer(2, 'here'));
});
