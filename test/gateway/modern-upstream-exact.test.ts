import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';
import { type RawPeer, rawServer } from '../support/raw-server.ts';

const INFO = '"io.modelcontextprotocol/clientInfo":{"name":"mcp-ws-gateway","version":"0.1.0"}';
const VERSION = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"';
const capabilitiesText = (text: string) => `"io.modelcontextprotocol/clientCapabilities":${text}`;
const envelope = (capabilities = '{}') => `${VERSION},${INFO},${capabilitiesText(capabilities)}`;
const EVERY = '{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{"listChanged":true}}';
const DISCOVERED =
  '{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"logging":{}},"resultType":"complete"}';

const answer = ({ socket }: RawPeer, id: number, result: string) =>
  socket.send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);

/** The gateway before one hand-moved upstream of the modern era, on whose one connection `tools/list` is answered. */
async function open(more: object = { isolation: 'shared' }) {
  const server = await rawServer();
  const gateway = await startGateway({ mcpServers: { up: { url: server.url, ...more } } });
  const catalogue = await server.accept();
  const discover = await catalogue.next();
  answer(catalogue, 1, DISCOVERED);
  const list = await catalogue.next();
  answer(catalogue, 2, '{"tools":[{"name":"act","inputSchema":{"type":"object"}}],"resultType":"complete"}');
  await gateway.ready();
  return { server, gateway, catalogue, discover, list };
}

/** Opens the link of a session's own. */
async function ownLink(server: Awaited<ReturnType<typeof rawServer>>): Promise<RawPeer> {
  const peer = await server.accept();
  await peer.next();
  answer(peer, 1, DISCOVERED);
  return peer;
}

async function modernClient(url: string): Promise<(id: number, members: string, meta?: string) => void> {
  const client = await connectRaw(url);
  return (id, members, meta = '') =>
    client.send(
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"up__act",${members}"_meta":{${VERSION},${capabilitiesText('{"roots":{}}')},"io.modelcontextprotocol/clientInfo":{"name":"me","version":"1"}${meta}}}}`,
    );
}

async function unexpected(gateway: { metrics(): Promise<string> }): Promise<number | undefined> {
  const labels = { source: 'upstream', kind: 'unknown' };
  return sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_unexpected_answers_total', labels);
}

const call = (client: RawClient, id: number, rest = '') =>
  client.send(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"up__act"${rest}}}`);

test('each request of the gateway’s own stands under an envelope', async () => {
  const shared = await open();
  expect(shared.discover).toBe(
    `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{${envelope()}}}}`,
  );
  expect(shared.list).toBe(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{${envelope()}}}}`);
});

test('the link of the lists declares all that the gateway can carry, that of a session what its client did', async () => {
  const { server, gateway, discover } = await open({});
  expect(discover).toContain(`"_meta":{${envelope(EVERY)}}`);
  const client = await openRaw(gateway.url, {}, { roots: { listChanged: true } });
  call(client, 1);
  const peer = await ownLink(server);
  expect(await peer.next()).toBe(
    `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{${envelope('{"roots":{"listChanged":true}}')}},"name":"act"}}`,
  );
});

test('a call of a handshake client goes out as it was written, with the envelope put in', async () => {
  const { gateway, catalogue } = await open();
  const client = await openRaw(gateway.url);
  const big = '9223372036854775807';
  call(client, 1, `, "arguments":{"n":${big},"e":1e400},"vendor":0.10,"_meta":{"vendor/x":${big}}`);
  expect(await catalogue.next()).toBe(
    `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"act", "arguments":{"n":${big},"e":1e400},"vendor":0.10,"_meta":{${envelope()},"vendor/x":${big}}}}`,
  );
  answer(catalogue, 3, `{"resultType":"complete","content":[],"vendor":${big}}`);
  expect(await client.next()).toContain(`"content":[],"vendor":${big}`);
});

test('a modern client’s envelope is taken out, its capabilities and log level are written anew', async () => {
  const { gateway, catalogue } = await open();
  const send = await modernClient(gateway.url);
  send(0, '');
  expect(await catalogue.next()).toBe(
    `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"act","_meta":{${envelope('{"roots":{}}')}}}}`,
  );
  send(1, '', ',"progressToken":"p","vendor/x":1.50,"io.modelcontextprotocol/logLevel":"error"');
  expect(await catalogue.next()).toBe(
    `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"act","_meta":{${envelope('{"roots":{}}')},"io.modelcontextprotocol/logLevel":"error","progressToken":4,"vendor/x":1.50}}}`,
  );
});

test('what a client brings for an earlier round is never forwarded as it is', async () => {
  const { gateway, catalogue } = await open();
  const client = await openRaw(gateway.url);
  const meta = `"_meta":{${envelope()}},`;
  call(client, 1, ',"inputResponses":{"a":{}},"requestState":"forged"');
  expect(await catalogue.next()).toBe(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{${meta}"name":"act"}}`);
});

test('the level a handshake client asks for is named on its requests from then on', async () => {
  const { server, gateway } = await open({});
  const client = await openRaw(gateway.url);
  call(client, 1);
  const peer = await ownLink(server);
  expect(await peer.next()).not.toContain('logLevel');
  await client.ask({ jsonrpc: '2.0', id: 'level', method: 'logging/setLevel', params: { level: 'warning' } });
  call(client, 2);
  expect(await peer.next()).toBe(
    `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"_meta":{${envelope()},"io.modelcontextprotocol/logLevel":"warning"},"name":"act"}}`,
  );
});

test('a client’s notification is not for an upstream of this era, its cancellation is', async () => {
  const { server, gateway } = await open({});
  const client = await openRaw(gateway.url, {}, { roots: { listChanged: true } });
  call(client, 1);
  const peer = await ownLink(server);
  await peer.next();
  client.send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } });
  expect(await peer.next()).toBe(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}',
  );
});

test('a request of the upstream breaks the protocol: it gets no answer and is counted', async () => {
  const { gateway, catalogue } = await open();
  const client = await openRaw(gateway.url);
  catalogue.socket.send('{"jsonrpc":"2.0","id":"q","method":"roots/list"}');
  catalogue.socket.send('{"jsonrpc":"2.0","id":"p","method":"ping"}');
  call(client, 1);
  expect(await catalogue.next()).toContain('"method":"tools/call"');
  expect(await unexpected(gateway)).toBe(2);
});

test('an error about the envelope stays on the link: the caller is told that the upstream cannot be had', async () => {
  const { gateway, catalogue } = await open();
  const client = await openRaw(gateway.url);
  for (const [at, code] of [-32020, -32022].entries()) {
    call(client, at);
    expect(await catalogue.next()).toContain('"method":"tools/call"');
    catalogue.socket.send(`{"jsonrpc":"2.0","id":${3 + 2 * at},"error":{"code":${code},"message":"secret"}}`);
    const data = { reason: 'upstream_unavailable', retryable: true };
    expect(await client.json()).toEqual(errorAnswer(at, -32603, 'The upstream cannot be reached', data));
    // It is asked what it is, and says so: the link stays.
    expect(await catalogue.next()).toContain('"method":"server/discover"');
    answer(catalogue, 4 + 2 * at, DISCOVERED);
  }
  call(client, 9);
  expect(await catalogue.next()).toContain('"id":7,"method":"tools/call"');
});

test('an upstream that no longer lets itself be discovered loses its link', async () => {
  const { server, gateway, catalogue } = await open();
  const client = await openRaw(gateway.url);
  call(client, 1);
  await catalogue.next();
  catalogue.socket.send('{"jsonrpc":"2.0","id":3,"error":{"code":-32022,"message":"no"}}');
  await client.next();
  await catalogue.next();
  catalogue.socket.send('{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"}}');
  const fresh = await server.accept();
  expect(await fresh.next()).toContain('"method":"server/discover"');
});
