import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { tapped } from '../support/frame-tap.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';

beforeAll(() => {
  Object.assign(globalThis, { WebSocket });
});

test('an SDK client lists and calls the tools of a real stdio server', async () => {
  const gateway = await startGateway({ mcpServers: { fixture: stdioUpstream('fixture.mjs') } });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(tapped(new WebSocketClientTransport(new URL(gateway.url))));
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain('fixture__echo');
  const result = await client.callTool({ name: 'fixture__echo', arguments: { text: 'hello' } });
  expect(result).toEqual({ content: [{ type: 'text', text: 'hello' }] });
  await client.close();
});

test('an error of the upstream passes unchanged, a tool error stays a result', async () => {
  const gateway = await startGateway({ mcpServers: { fixture: stdioUpstream('fixture.mjs') } });
  const client = await openRaw(gateway.url);
  expect(await client.ask({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'fixture__error' } })).toEqual(
    {
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32063, message: 'custom', data: { a: 1 } },
    },
  );
  expect(
    await client.ask({ jsonrpc: '2.0', id: 'two', method: 'tools/call', params: { name: 'fixture__fail' } }),
  ).toEqual({
    jsonrpc: '2.0',
    id: 'two',
    result: { content: [{ type: 'text', text: 'it failed' }], isError: true },
  });
});

test('what is unknown or malformed gets its error at its id, and the socket stays', async () => {
  const gateway = await startGateway({ mcpServers: { fixture: stdioUpstream('fixture.mjs') } });
  const client = await openRaw(gateway.url);
  expect(await client.ask('{"jsonrpc":')).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32700, message: 'Parse error' },
  });
  expect(await client.ask('[]')).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32600, message: 'Invalid Request' },
  });
  expect(await client.ask('{"jsonrpc":"1.0","id":1,"method":"ping"}')).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32600, message: 'Invalid Request' },
  });
  expect(await client.ask({ jsonrpc: '2.0', id: 3, method: 'no/such' })).toEqual({
    jsonrpc: '2.0',
    id: 3,
    error: { code: -32601, message: 'Method not found' },
  });
  expect(await client.ask({ jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'constructor' } })).toEqual({
    jsonrpc: '2.0',
    id: 4,
    error: { code: -32602, message: 'Unknown tool: constructor' },
  });
  expect(await client.ask({ jsonrpc: '2.0', id: 5, method: 'ping' })).toEqual({ jsonrpc: '2.0', id: 5, result: {} });
});
