import { expect, test } from 'vitest';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';

const one = recordFile();
const two = recordFile();
const inputSchema = { type: 'object' };
const mailer = (path: string) =>
  stdioUpstream(
    'lists.mjs',
    [path, JSON.stringify({ pages: [JSON.stringify([{ name: 'send_email', inputSchema }])] })],
    {
      isolation: 'shared',
    },
  );
const calls = () => [one, two].map((record) => record.lines().filter((line) => line.startsWith('call')));

test('a tool name on two upstreams is two tools, each routed to its owner', async () => {
  const { url, ready } = await startGateway({ mcpServers: { one: mailer(one.path), two: mailer(two.path) } });
  await ready();
  const client = await openRaw(url);
  expect(await client.ask({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {
      tools: [
        { name: 'one__send_email', inputSchema },
        { name: 'two__send_email', inputSchema },
      ],
    },
  });
  expect(await client.ask(toolCall(2, 'two__send_email'))).toEqual(textAnswer(2, 'send_email'));
  expect(calls()).toEqual([[], ['call send_email']]);
  expect(await client.ask(toolCall(3, 'one__send_email'))).toEqual(textAnswer(3, 'send_email'));
  expect(calls()).toEqual([['call send_email'], ['call send_email']]);
});
