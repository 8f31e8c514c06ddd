import { expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw } from '../support/raw-client.ts';

const PATIENT = { timeout: 20_000 };
const MIB = 1024 * 1024;
const record = recordFile();

test('a reader too slow for what comes from a shared upstream is closed at once, and nobody waits for it', async () => {
  const clock = fakeClock();
  const gateway = await startGateway(
    {
      limits: { outbox: '1MiB', slowReader: '10s', pingInterval: '60m' },
      mcpServers: { up: stdioUpstream('plain.mjs', [record.path], { isolation: 'shared' }) },
    },
    clock,
  );
  await gateway.ready();
  const metric = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
    sampleValue(parseMetrics(await gateway.metrics()), `mcp_gateway_${name}`, labels) ?? 0;
  const [sleeper, reader] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  sleeper.send(toolCall('kept', 'up__wait'));
  await expect.poll(record.lines, PATIENT).toContainEqual(expect.stringMatching(/^waiting/));
  sleeper.socket.pause();
  for (let id = 1; id <= 24; id += 1) sleeper.send(toolCall(id, 'up__big', { bytes: MIB }));
  await expect.poll(() => metric('outbox_bytes'), PATIENT).toBeGreaterThan(0);
  reader.send(toolCall(1, 'up__echo', { text: 'behind all that' }));
  expect(await reader.json()).toEqual(textAnswer(1, 'behind all that'));
  expect(await metric('outbox_bytes')).toBeLessThan(2.1 * MIB);
  // No time has passed on the gateway's clock: the close frame has been written, behind what the reader does not take.
  clock.advance(999);
  expect(await metric('connections')).toBe(2);
  clock.advance(1);
  await expect.poll(() => metric('connections'), PATIENT).toBe(1);
  expect(await metric('connections_closed_total', { code: '4430', by: 'gateway' })).toBe(1);
  await expect.poll(record.lines, PATIENT).toContainEqual(expect.stringMatching(/^cancelled/));
  expect(await reader.ask(toolCall(2, 'up__echo', { text: 'still' }))).toEqual(textAnswer(2, 'still'));
  expect(await metric('outbox_bytes')).toBe(0);
}, 60_000);
