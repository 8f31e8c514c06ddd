import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import { fileGateway } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { answerJson, answerStatus, openHttpUpstream } from '../../support/http-upstream.ts';
import { errorAnswer, textAnswer, toolCall } from '../../support/messages.ts';
import { connectRaw, openRaw } from '../../support/raw-client.ts';
import { upgrade } from '../../support/upgrade-request.ts';
import { verifies } from '../verifies.ts';

const gateway = fileGateway({ mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) } });
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const pong = '{"jsonrpc":"2.0","id":1,"result":{}}';

verifies('ws.frame.text', 'each message of the gateway is one compact text message of JSON-RPC', async () => {
  const client = await connectRaw(gateway().url);
  const binary: boolean[] = [];
  client.socket.on('message', (_data, isBinary) => binary.push(isBinary));
  client.send(ping);
  client.send('no JSON');
  client.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  expect([await client.next(), await client.next(), await client.next()]).toEqual([
    pong,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    '{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"Send initialize first"}}',
  ]);
  expect(binary).toEqual([false, false, false]);
});

verifies(['ws.frame.line', 'relay.exact'], 'line breaks between an upstream’s tokens become spaces', async () => {
  const results = new Map([
    [
      '"initialize"',
      '{"protocolVersion":"2025-11-25",\n"capabilities":{"tools":{}},"serverInfo":{"name":"b","version":"0"}}',
    ],
    ['"tools/list"', '{"tools":[{"name":"a",\r\n"inputSchema":{"type":"object"\n}}]}'],
    ['"tools/call"', '{"content":[\r]}'],
  ]);
  const upstream = await openHttpUpstream(({ method, body, response }) => {
    const result = [...results].find(([asked]) => body.includes(asked))?.[1];
    if (result === undefined) return answerStatus(response, method === 'POST' ? 202 : 405);
    const id = /"id":(\d+)/.exec(body)?.[1];
    return answerJson(response, `\r\n{"jsonrpc":"2.0",\n"id":${id},"result":\r\n${result}\n}\n`);
  });
  onTestFinished(() => upstream.close());
  const own = await startGateway({ mcpServers: { up: { url: upstream.url, isolation: 'shared' } } });
  await own.ready();
  const client = await openRaw(own.url);
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  client.send(toolCall(2, 'up__a'));
  expect([await client.next(), await client.next()]).toEqual([
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"up__a",  "inputSchema":{"type":"object" }}]}}',
    '{"jsonrpc":"2.0", "id":2,"result":  {"content":[ ]} }',
  ]);
});

verifies('ws.frame.fragments', 'a message in several frames, with white space, is one', async () => {
  const client = await openRaw(gateway().url);
  const text = `\n\t${JSON.stringify(toolCall(1, 'up__echo', { text: 'ü' }))}\r\n`;
  const bytes = Buffer.from(text);
  const cut = bytes.indexOf(0xc3) + 1;
  client.tap.sent(text);
  client.socket.send(bytes.subarray(0, cut), { binary: false, fin: false });
  client.socket.send(bytes.subarray(cut), { binary: false, fin: true });
  expect(await client.json()).toEqual(textAnswer(1, 'ü'));
  client.send('{"jsonrpc":"2.0","id":2,\r\n"method":"ping"}\n');
  expect(await client.next()).toBe('{"jsonrpc":"2.0","id":2,"result":{}}');
});

verifies('ws.frame.deflate', 'an offer of compression is not taken', async () => {
  const headers = { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' };
  const answer = await upgrade(gateway().url, { headers });
  expect([answer.status, answer.headers['sec-websocket-extensions']]).toEqual([101, undefined]);
});

verifies('err.ambiguous', 'a key twice in what the gateway reads, in any spelling, is refused', async () => {
  const client = await openRaw(gateway().url);
  const refused = errorAnswer(null, -32600, 'Invalid Request: a key is repeated or ambiguous');
  for (const frame of [
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","m\\u0065thod":"tools/list"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/list"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__echo","NAME":"up__pid"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__echo","x":1,"\\u0078":2}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__echo","_meta":{"a":1,"a":1}}}',
  ]) {
    expect(await client.ask(frame)).toEqual(refused);
  }
  expect(await client.barrier()).toEqual([]);
});

verifies('ping.pong', 'a ping frame is answered with its own payload, before any session', async () => {
  const { socket } = await connectRaw(gateway().url);
  const pongs = once(socket, 'pong');
  socket.ping('are you there');
  const [payload] = await pongs;
  expect(String(payload)).toBe('are you there');
});
