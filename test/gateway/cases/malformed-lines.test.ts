import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../../support/messages.ts';
import { connectTcp } from '../../support/tcp-client.ts';

const unparsable = errorAnswer(null, -32700, 'Parse error');
const FRAMES = [
  '{"jsonrpc":"2.0","id":1,"meth',
  '{"jsonrpc":"2.0","id":1,"method":"ping"',
  '{"jsonrpc":"2.0","id":1,"method":"ping"}}',
  '{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}',
  "{'jsonrpc':'2.0','id':1,'method':'ping'}",
  '{"jsonrpc":"2.0","id":1,"method":"ping",}',
  '{"jsonrpc":"2.0","id":01,"method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"method":"pi\tng"}',
  '\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}',
  'ping',
  'undefined',
];

test('what is no JSON is answered -32700 under id null, every time, and what comes next as ever', async () => {
  const {
    url,
    ready,
    tcp: address,
  } = await startGateway({
    listen: { port: 0, tcp: { port: 0 } },
    mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) },
  });
  await ready();
  for (const era of CLIENT_ERAS) {
    const client = await openEra(era, url);
    const content = [{ type: 'text', text: 'x' }];
    for (const frame of FRAMES) {
      expect(await client.raw.ask(frame)).toEqual(unparsable);
      expect(await client.ask(1, 'tools/call', toolCall(1, 'up__echo', { text: 'x' }).params)).toEqual(
        client.result(1, { content }),
      );
    }
    expect(await client.raw.ask('')).toEqual(unparsable);
  }
  const tcp = await connectTcp(address);
  await tcp.initialize();
  for (const frame of FRAMES) {
    tcp.send(`${frame}\n`);
    expect(JSON.parse((await tcp.next()) ?? '')).toEqual(unparsable);
    expect(await tcp.ask(toolCall(1, 'up__echo', { text: 'x' }))).toEqual(textAnswer(1, 'x'));
  }
});
