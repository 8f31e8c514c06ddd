import { type CallToolResult, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../support/era-client.ts';
import { startGateway } from '../support/gateway.ts';
import { openSdk2Http } from '../support/sdk2-http.ts';

const OK: CallToolResult = { content: [{ type: 'text', text: 'ok' }] };

const SCHEMA = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Item-Count' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    to: { type: 'object', properties: { city: { type: 'string', 'x-mcp-header': 'City' } } },
    query: { type: 'string' },
  },
} as const;

function createServer(): McpServer {
  const server = new McpServer({ name: 'mirroring', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = fromJsonSchema(SCHEMA);
  server.registerTool('ask', { inputSchema }, async () => OK);
  server.registerTool('plain', {}, async () => OK);
  return server;
}

/** A gateway before a real SDK 2.x server that holds its tools' annotations against the headers of each call. */
async function open(more: object = {}) {
  const upstream = await openSdk2Http(createServer);
  onTestFinished(() => upstream.close());
  const gateway = await startGateway({ mcpServers: { up: { url: upstream.url, ...more } } });
  await gateway.ready();
  /** The headers beside the last call, as the server saw them. */
  const params = () => {
    const calls = upstream.seen.filter(({ headers }) => headers['mcp-method'] === 'tools/call');
    return Object.fromEntries(Object.entries(calls.at(-1)?.headers ?? {}).filter(([name]) => /^mcp-param-/.test(name)));
  };
  return { upstream, gateway, params };
}

describe.each(CLIENT_ERAS)('a call of a %s client', (era) => {
  test.each([
    [
      'all of them',
      '{"region":"us-west1","count":42,"dry":false,"to":{"city":"Oslo"},"query":"secret"}',
      {
        'mcp-param-region': 'us-west1',
        'mcp-param-item-count': '42',
        'mcp-param-dry': 'false',
        'mcp-param-city': 'Oslo',
      },
    ],
    ['none', '{}', {}],
    ['one', '{"to":{},"count":-7}', { 'mcp-param-item-count': '-7' }],
    [
      'a text no header can carry',
      '{"region":"Tromsø\\r\\nx-evil: 1"}',
      {
        'mcp-param-region': '=?base64?VHJvbXPDuA0KeC1ldmlsOiAx?=',
      },
    ],
    ['no text', '{"region":""}', { 'mcp-param-region': '=?base64??=' }],
    ['an encoded text', '{"region":"=?base64?eA==?="}', { 'mcp-param-region': '=?base64?PT9iYXNlNjQ/ZUE9PT89?=' }],
    ['an integer no double holds', '{"count":9007199254740993}', { 'mcp-param-item-count': '9007199254740993' }],
    ['an integer with a fraction', '{"count":42.0}', { 'mcp-param-item-count': '42' }],
  ])('that gives %s is repeated in headers, and taken', async (_, given, headers) => {
    const { gateway, params } = await open();
    const client = await openEra(era, gateway.url);
    const request = JSON.stringify(client.request(1, 'tools/call', { name: 'up__ask', arguments: 'GIVEN' }));
    client.raw.send(request.replace('"GIVEN"', given));
    const answer = await client.raw.json();
    expect(params()).toEqual(headers);
    expect(answer).toMatchObject({ id: 1, result: OK });
  });

  test('that gives null has no header for it, and what the server says of null is its own', async () => {
    const { gateway, params } = await open();
    const client = await openEra(era, gateway.url);
    const given = { region: null, count: 1 };
    const answer = await client.ask(1, 'tools/call', { name: 'up__ask', arguments: given });
    expect(params()).toEqual({ 'mcp-param-item-count': '1' });
    expect(answer).toMatchObject({ id: 1, result: { isError: true } });
  });

  test('of a shared link, without arguments, and of a tool that wants nothing repeated', async () => {
    const { gateway, params } = await open({ isolation: 'shared' });
    const client = await openEra(era, gateway.url);
    const call = (id: number, name: string, given?: object) =>
      client.ask(id, 'tools/call', { name, ...(given === undefined ? {} : { arguments: given }) });
    expect(await call(1, 'up__ask', { region: 'eu' })).toMatchObject({ id: 1, result: OK });
    expect(params()).toEqual({ 'mcp-param-region': 'eu' });
    expect(await call(2, 'up__ask', {})).toMatchObject({ id: 2, result: OK });
    expect(params()).toEqual({});
    expect(await call(3, 'up__plain', { region: 'eu' })).toMatchObject({ id: 3, result: OK });
    expect(params()).toEqual({});
  });
});
