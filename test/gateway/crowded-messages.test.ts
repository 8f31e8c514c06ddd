import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { errorAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { offering, scriptedUpstream } from '../support/scripted-upstream.ts';

/** The text of this many members. */
const members = (count: number) => Array.from({ length: count }, (_, at) => `"v${at}":0`).join(',');

async function open() {
  const upstream = await scriptedUpstream({
    ...offering('few', 'many'),
    'tools/call': ({ params, result }) => result(`{"content":[],${members(params.name === 'few' ? 9999 : 10_000)}}`),
  });
  const gateway = await startGateway({ mcpServers: { up: upstream.entry } });
  await gateway.ready();
  return openRaw(gateway.url);
}

test('a client’s message of 10,000 members passes; one of more is refused, and the socket stays', async () => {
  const client = await open();
  const ping = (count: number) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{${members(count)}}}`;
  expect(await client.ask(ping(10_000))).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  const refused = errorAnswer(null, -32600, 'Invalid Request: a key is repeated or ambiguous');
  expect(await client.ask(ping(10_001))).toEqual(refused);
  expect(await client.ask(`{"jsonrpc":"2.0","id":1,"method":"ping",${members(200_000)}}`)).toEqual(refused);
  expect(await client.ask(ping(1))).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});

test('an upstream’s answer of 10,000 members passes; one of more fails its own call', async () => {
  const client = await open();
  expect(await client.ask(toolCall(1, 'up__few'))).toMatchObject({ id: 1, result: { content: [], v9998: 0 } });
  expect(await client.ask(toolCall(2, 'up__many'))).toEqual(
    errorAnswer(2, -32603, 'The answer of the upstream is too large or malformed', {
      reason: 'too_large',
      retryable: false,
    }),
  );
  expect(await client.ask(toolCall(3, 'up__few'))).toMatchObject({ id: 3, result: {} });
});
