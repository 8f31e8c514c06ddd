import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketClientTransport } from '../../src/client/index.ts';
import { startGateway } from '../support/gateway.ts';
import { errorAnswer, toolCall } from '../support/messages.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import {
  type Script,
  type ScriptedLink,
  type ScriptedUpstream,
  scriptedUpstream,
} from '../support/scripted-upstream.ts';

const TASKS = 'io.modelcontextprotocol/tasks';
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const modern = (id: number, method: string, params: object = {}) => {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: ENVELOPE } };
};

const FIRST = {
  tools: {},
  tasks: { list: {}, requests: { tools: { call: {} } } },
  experimental: { 'com.example/trace': { of: 'first' } },
  extensions: { 'com.example/search': { modes: ['a', { b: true }] }, [TASKS]: {} },
};
const SECOND = {
  tools: {},
  experimental: { 'com.example/trace': { of: 'second' }, 'com.example/more': {} },
  extensions: { 'com.example/search': {}, 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html'] } },
};
const MERGED = {
  tools: { listChanged: true },
  experimental: { 'com.example/trace': { of: 'first' }, 'com.example/more': {} },
  extensions: {
    'com.example/search': { modes: ['a', { b: true }] },
    'io.modelcontextprotocol/ui': { mimeTypes: ['text/html'] },
  },
};

/** An upstream that announces these capabilities and has one tool, which does what `call` does. */
function announcing(capabilities: object, call: Script[string] = ({ result }) => result({ content: [] })) {
  return scriptedUpstream({
    initialize: ({ result }) =>
      result({ protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'announcing', version: '1' } }),
    'tools/list': ({ result }) => result({ tools: [{ name: 'run', inputSchema: { type: 'object' } }] }),
    'tools/call': call,
  });
}

/** Its connections that were opened with `initialize`, the first of them for its lists. */
function opened({ links }: ScriptedUpstream): readonly ScriptedLink[] {
  return links.filter(({ heard }) => heard.some(({ method }) => method === 'initialize'));
}

/** What it heard first of this method. */
function first(link: ScriptedLink | undefined, method: string): unknown {
  return link?.heard.find((message) => message.method === method);
}

async function gatewayOf(first: object, second: object = { tools: {} }) {
  const [a, b] = [await announcing(first), await announcing(second)];
  const gateway = await startGateway({ mcpServers: { a: a.entry, b: b.entry } });
  await gateway.ready();
  return { gateway, a, b };
}

test.each(['2025-11-25', '2025-06-18', '2024-11-05'])(
  'initialize of %s announces what the upstreams announce beyond it, the first deciding, and no tasks',
  async (version) => {
    const { gateway } = await gatewayOf(FIRST, SECOND);
    const client = await connectRaw(gateway.url);
    const answer = await client.initialize(version);
    expect(answer).toHaveProperty('result.protocolVersion', version);
    expect(answer).toHaveProperty('result.capabilities', MERGED);
  },
);

test('server/discover announces the same', async () => {
  const { gateway } = await gatewayOf(FIRST, SECOND);
  const client = await connectRaw(gateway.url);
  expect(await client.ask(modern(1, 'server/discover'))).toHaveProperty('result.capabilities', MERGED);
});

test('clients of both SDKs read it as it is', async () => {
  const { gateway } = await gatewayOf(FIRST, SECOND);
  const first = new Client1({ name: 'first', version: '1' });
  await first.connect(new WebSocketClientTransport({ url: gateway.url }));
  onTestFinished(() => first.close());
  expect(first.getServerCapabilities()).toEqual(MERGED);
  const second = new Client2({ name: 'second', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await second.connect(new WebSocketClientTransport({ url: gateway.url }));
  onTestFinished(() => second.close());
  expect(second.getServerCapabilities()).toEqual(MERGED);
});

test('what is too much is dropped, said once, and harms nothing else', async () => {
  const names = Array.from({ length: 70 }, (_, at) => [`com.example/${at}`, {}]);
  const extensions = Object.fromEntries(names);
  const { gateway } = await gatewayOf({ tools: {}, extensions }, SECOND);
  const client = await connectRaw(gateway.url);
  const expected = { ...Object.fromEntries(names.slice(0, 64)), ...SECOND.extensions };
  expect(await client.initialize()).toHaveProperty('result.capabilities.extensions', expected);
  expect(gateway.log.filter(({ event }) => event === 'capabilities_dropped')).toEqual([
    { level: 'warn', event: 'capabilities_dropped', fields: { upstream: 'a', count: 6 } },
  ]);
});

test('what a client declares beyond its revision reaches its own links, but for tasks', async () => {
  const { gateway, a } = await gatewayOf({ tools: {} });
  const declared = {
    tasks: { list: {} },
    experimental: { 'com.example/c': { n: 1 } },
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html'] }, [TASKS]: {} },
  };
  const client = await openRaw(gateway.url, {}, declared);
  expect(await client.ask(toolCall(1, 'a__run'))).toMatchObject({ id: 1, result: { content: [] } });
  const [listing, own, ...more] = opened(a);
  expect(more).toEqual([]);
  expect(first(listing, 'initialize')).not.toHaveProperty('params.capabilities.extensions');
  expect(first(own, 'initialize')).toHaveProperty('params.capabilities', {
    experimental: { 'com.example/c': { n: 1 } },
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html'] } },
  });
});

test('a client that declares too much is served, and it is said', async () => {
  const { gateway } = await gatewayOf({ tools: {} });
  const client = await openRaw(gateway.url, {}, { extensions: { 'x/a': { a: 'x'.repeat(20_000) }, 'x/b': {} } });
  expect(await client.barrier()).toEqual([]);
  expect(gateway.log.filter(({ event }) => event === 'capabilities_dropped')).toMatchObject([
    { level: 'info', fields: { count: 1 } },
  ]);
});

test.each(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel', 'tasks/update'])(
  '%s is no method in either era, whatever the upstreams announce',
  async (method) => {
    const { gateway, a } = await gatewayOf(FIRST, SECOND);
    const params = { taskId: 't' };
    const client = await openRaw(gateway.url);
    expect(await client.ask({ jsonrpc: '2.0', id: 1, method, params })).toEqual(
      errorAnswer(1, -32601, 'Method not found'),
    );
    const other = await connectRaw(gateway.url);
    expect(await other.ask(modern(2, method, params))).toEqual(errorAnswer(2, -32601, 'Method not found'));
    expect(opened(a)).toHaveLength(1);
  },
);

test('a call that asks for a task is served as if it had not, in either direction', async () => {
  const upstream = await announcing(FIRST, ({ link, result }) => {
    const sampling = { messages: [], maxTokens: 1, task: { ttl: 1 } };
    link.send({ jsonrpc: '2.0', id: 's', method: 'sampling/createMessage', params: sampling });
    result({ content: [] });
  });
  const gateway = await startGateway({ mcpServers: { a: upstream.entry } });
  await gateway.ready();
  const client = await openRaw(gateway.url, {}, { sampling: {} });
  const { params, ...call } = toolCall(1, 'a__run', { task: { of: 'the tool' } });
  client.send({ ...call, params: { task: { ttl: 60_000 }, ...params } });
  expect(await client.json()).toEqual({
    jsonrpc: '2.0',
    id: 'g1',
    method: 'sampling/createMessage',
    params: { messages: [], maxTokens: 1 },
  });
  expect(await client.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } });
  expect(first(opened(upstream)[1], 'tools/call')).toHaveProperty('params', {
    name: 'run',
    arguments: { task: { of: 'the tool' } },
  });
});
