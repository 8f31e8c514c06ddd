import { expect, test } from 'vitest';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { cancellation, textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';

const owner = recordFile();
const other = recordFile();
const of = (lines: readonly string[], event: string) => lines.filter((line) => line.startsWith(event));

test("a cancelled call is cancelled at its upstream under that upstream's id", async () => {
  const { url, ready } = await startGateway({
    mcpServers: {
      'up-0': stdioUpstream('plain.mjs', [owner.path], { isolation: 'shared' }),
      'up-1': stdioUpstream('plain.mjs', [other.path], { isolation: 'shared' }),
    },
  });
  await ready();
  const client = await openRaw(url);
  client.send(toolCall(101, 'up-0__wait'));
  await expect.poll(() => of(owner.lines(), 'waiting')).toHaveLength(1);
  const [waiting = ''] = of(owner.lines(), 'waiting');
  expect(waiting).not.toBe('waiting 101');
  client.send(cancellation(101, 'enough'));
  await expect
    .poll(() => of(owner.lines(), 'cancelled'))
    .toEqual([`${waiting.replace('waiting', 'cancelled')} enough`]);
  expect(await client.ask(toolCall(102, 'up-1__echo', { text: 'next' }))).toEqual(textAnswer(102, 'next'));
  expect(of(other.lines(), 'cancelled')).toEqual([]);
  expect(await client.barrier()).toEqual([]);
});
