import { expect, test } from 'vitest';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';

const record = recordFile();

test('an upstream that dies at its first list has not answered, and is tried again at growing intervals', async () => {
  const upstream = stdioUpstream('listless.mjs', [record.path], { required: true });
  const gateway = await startGateway({ mcpServers: { listless: upstream } });
  await expect.poll(() => record.lines().length, { timeout: 15_000 }).toBe(4);
  const answer = await fetch(`${gateway.opsUrl}/readyz`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ status: 'not_ready', detail: { upstreams: { listless: 'failed' } } });
  await gateway.close();
  // The fourth start came after waits of at least 250, 500 and 1,000 ms: a loop that never slows has started more often.
  expect(record.lines()).toHaveLength(4);
});
