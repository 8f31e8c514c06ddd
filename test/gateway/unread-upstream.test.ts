import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { cancellation, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

// Answers until it is called, then never reads again.
const DEAF = `
const answers = { initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'deaf', version: '1' } },
  'tools/list': { tools: [{ name: 'x', inputSchema: { type: 'object' } }] } };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'tools/call') require('node:fs').writeSync(2, 'deaf\\n');
  if (method === 'tools/call') for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  if (answers[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }));
});`;

test('calls to an upstream that does not read are refused once enough of them waits, cancelled or not', async () => {
  const gateway = await startGateway({
    limits: { maxUpstreamMessage: '1MiB' },
    mcpServers: { deaf: { command: process.execPath, args: ['-e', DEAF], isolation: 'shared' } },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  client.send(toolCall('first', 'deaf__x'));
  await expect.poll(() => gateway.log.map(({ fields }) => fields.line)).toContain('deaf');
  const given = { data: 'x'.repeat(500_000) };
  for (let id = 1; id <= 8; id += 1) {
    client.send(toolCall(id, 'deaf__x', given));
    client.send(cancellation(id));
  }
  await client.barrier();
  expect(await client.ask(toolCall('last', 'deaf__x', given))).toMatchObject({
    id: 'last',
    error: { code: -32603, data: { reason: 'at_capacity' } },
  });
});

test('so are those to an upstream over HTTP that does not take what is posted, until it does', async () => {
  const initialized = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'h', version: '1' },
  };
  const listed = { tools: [{ name: 'x', inputSchema: { type: 'object' } }] };
  const unread: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    if (Number(request.headers['content-length']) > 100_000) return void unread.push(request);
    void text(request).then((body) => {
      const { id, method } = JSON.parse(body);
      const result = method === 'initialize' ? initialized : method === 'tools/list' ? listed : { content: [] };
      if (id === undefined || method === 'server/discover')
        return void response.writeHead(id === undefined ? 202 : 404).end();
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void [server.closeAllConnections(), server.close()]);
  const gateway = await startGateway({
    limits: { maxUpstreamMessage: '1MiB', maxMessage: '32MiB' },
    mcpServers: { up: { url: `http://127.0.0.1:${Object(server.address()).port}/`, isolation: 'shared' } },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  client.send(toolCall(1, 'up__x', { data: 'x'.repeat(20_000_000) }));
  await expect.poll(() => unread.length, { timeout: 10_000 }).toBe(1);
  expect(await client.ask(toolCall(2, 'up__x'))).toMatchObject({ id: 2, error: { data: { reason: 'at_capacity' } } });
  for (const request of unread) request.resume();
  const answered = async () => {
    const answer: unknown = await client.ask(toolCall(3, 'up__x'));
    return Object(answer).result;
  };
  await expect.poll(answered, { timeout: 10_000 }).toEqual({ content: [] });
}, 30_000);
