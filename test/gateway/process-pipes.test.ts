import { expect, test } from 'vitest';
import { recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { serve } from '../support/serving.ts';
import { isAlive } from '../support/stdio/child.ts';

const record = recordFile();
const living = () => record.lines().flatMap((line) => (isAlive(line.slice('pid '.length)) ? [line] : []));

test('a gateway whose log and audit nobody reads any more serves on and stops as ever, and no child is left', async () => {
  const served = await serve({
    audit: { sink: 'stdout' },
    log: { level: 'debug' },
    mcpServers: { own: stdioUpstream('plain.mjs', [record.path]), noisy: stdioUpstream('noisy.mjs') },
  });
  const client = await openRaw(served.url);
  expect(await client.ask(toolCall('before', 'own__echo', { text: 'in' }))).toEqual(textAnswer('before', 'in'));
  served.hangUp();
  for (let id = 1; id <= 100; id += 1)
    expect(await client.ask(toolCall(id, 'own__echo', { text: 'in' }))).toEqual(textAnswer(id, 'in'));
  const later = await openRaw(served.url);
  expect(await later.ask(toolCall(1, 'own__echo', { text: 'new' }))).toEqual(textAnswer(1, 'new'));
  expect(living().length).toBeGreaterThan(2);
  expect((await served.stop('SIGTERM')).code).toBe(0);
  expect(living()).toEqual([]);
}, 60_000);
