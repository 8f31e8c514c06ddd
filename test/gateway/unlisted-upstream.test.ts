import { expect, test } from 'vitest';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';

const record = recordFile();

test('an upstream that dies at its first list has not answered, and is tried again at growing intervals', async () => {
  const upstream = stdioUpstream('listless.mjs', [record.path], { required: true });
  const gateway = await startGateway({ mcpServers: { listless: upstream } });
  await expect.poll(() => record.lines().length, { timeout: 15_000 }).toBe(5);
  const answer = await fetch(`${gateway.opsUrl}/readyz`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ status: 'not_ready', detail: { upstreams: { listless: 'failed' } } });
  // The first start is the one that is asked for its era.
  const [, , , third = 0, fourth = 0] = record.lines().map(Number);
  // The first wait is at most 500 ms and doubles: before the fourth start it is at least a second.
  expect(fourth - third).toBeGreaterThan(950);
});
