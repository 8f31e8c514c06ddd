import { expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw } from '../support/raw-client.ts';

const PATIENT = { timeout: 20_000 };
const MIB = 1024 * 1024;

test('when all that waits is too much, the socket with most of it is closed 1013, and the others stay', async () => {
  const clock = fakeClock();
  const gateway = await startGateway(
    {
      limits: { outbox: '64MiB', bufferedTotal: '8MiB', pingInterval: '60m' },
      mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) },
    },
    clock,
  );
  await gateway.ready();
  const metric = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
    sampleValue(parseMetrics(await gateway.metrics()), `mcp_gateway_${name}`, labels) ?? 0;
  const [heavy, light, reader] = [await openRaw(gateway.url), await openRaw(gateway.url), await openRaw(gateway.url)];
  for (const sleeper of [heavy, light]) sleeper.socket.pause();
  for (let id = 1; id <= 10; id += 1) light.send(toolCall(id, 'up__big', { bytes: MIB }));
  for (let id = 1; id <= 24; id += 1) heavy.send(toolCall(id, 'up__big', { bytes: MIB }));
  await expect.poll(() => metric('outbox_bytes'), PATIENT).toBeGreaterThan(14 * MIB);
  expect(await metric('connections_closed_total', { code: '1013', by: 'gateway' })).toBe(0);
  clock.advance(100);
  expect(gateway.log.filter(({ event }) => event === 'socket_closed_for_memory')).toHaveLength(1);
  heavy.socket.resume();
  expect(await heavy.closed).toEqual({ code: 1013, reason: 'overloaded retry=5000' });
  clock.advance(1000);
  await expect.poll(() => metric('connections_closed_total', { code: '1013', by: 'gateway' }), PATIENT).toBe(1);
  light.socket.resume();
  for (let n = 0; n < 10; n += 1) expect(await light.json()).toMatchObject({ result: { content: [{ type: 'text' }] } });
  expect(await reader.ask(toolCall(1, 'up__echo', { text: 'served' }))).toEqual(textAnswer(1, 'served'));
}, 60_000);
