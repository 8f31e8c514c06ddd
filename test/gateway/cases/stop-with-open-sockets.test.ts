import { expect, test } from 'vitest';
import { DRAINED } from '../../support/drained.ts';
import { recordFile } from '../../support/file-gateway.ts';
import { stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';
import { serve } from '../../support/serving.ts';
import { upgrade } from '../../support/upgrade-request.ts';

const record = recordFile();

test('SIGTERM with open sockets and a slow call closes them, answers it and ends with exit code 0', async () => {
  const served = await serve({
    mcpServers: { up: stdioUpstream('plain.mjs', [record.path], { isolation: 'shared' }) },
  });
  const idle = [await openRaw(served.url), await openRaw(served.url), await openRaw(served.url)];
  const busy = await openRaw(served.url);
  busy.send(toolCall(1, 'up__beat', { every: 300, times: 5 }, { progressToken: 'beat' }));
  await busy.next();
  const ended = served.stop('SIGTERM');
  expect(await Promise.all(idle.map(({ closed }) => closed))).toEqual([DRAINED, DRAINED, DRAINED]);
  const { status, headers, body } = await upgrade(served.url);
  expect([status, headers['retry-after'], body]).toEqual([503, '5', '{"error":"draining"}']);
  for (let beat = 2; beat <= 5; beat += 1) await busy.next();
  expect(await busy.json()).toEqual(textAnswer(1, 'beat 5'));
  expect(await busy.closed).toEqual(DRAINED);
  const { code, tookMs } = await ended;
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(4000);
});
