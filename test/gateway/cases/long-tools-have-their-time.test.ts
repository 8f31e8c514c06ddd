import { expect, test } from 'vitest';
import { fakeClock } from '../../support/fake-clock.ts';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';

const record = recordFile();

test('a tool that works for 70 s without progress is answered where its limit is 120 s, and cut where it is 60 s', async () => {
  const clock = fakeClock();
  const upstream = (timeout: string) => stdioUpstream('plain.mjs', [record.path], { timeout, isolation: 'shared' });
  const mcpServers = { long: upstream('120s'), short: upstream('60s') };
  const gateway = await startGateway({ limits: { pingInterval: '60m' }, mcpServers }, clock);
  await gateway.ready();
  const client = await openRaw(gateway.url);
  client.send(toolCall('long', 'long__hold', { key: 'a' }));
  client.send(toolCall('short', 'short__hold', { key: 'b' }));
  await expect.poll(() => record.lines().filter((line) => line.startsWith('holding'))).toHaveLength(2);
  clock.advance(70_000);
  expect(await client.json()).toEqual(
    errorAnswer('short', -32603, 'The upstream did not answer in time', { reason: 'timeout', retryable: false }),
  );
  client.send(toolCall('release', 'long__release', { key: 'a' }));
  expect(await client.json()).toEqual(textAnswer('long', 'a'));
  expect(await client.json()).toEqual(textAnswer('release', 'released'));
});
