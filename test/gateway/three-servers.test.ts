import { existsSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { tapped } from '../support/frame-tap.ts';
import { startGateway } from '../support/gateway.ts';
import { startKeyServer } from '../support/key-server.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';
import { connected, startThreeServers, type ThreeServers } from '../support/three-servers.ts';
import { makeIssuer, makeKey, type TestKey } from '../support/tokens.ts';
import { upgrade } from '../support/upgrade-request.ts';

let three: ThreeServers;

beforeAll(async () => {
  three = await startThreeServers();
}, 60_000);
afterAll(() => three.close());

/** An SDK client whose WebSocket adds the header, as the README shows. */
async function sdkClient(id: string, role: string): Promise<Client> {
  const headers = { Authorization: `Bearer ${await three.token(id, role)}` };
  class AuthorizedWebSocket extends WebSocket {
    constructor(url: string | URL, protocols: string | string[]) {
      super(url, protocols, { headers });
    }
  }
  Object.assign(globalThis, { WebSocket: AuthorizedWebSocket });
  const client = await connected(tapped(new WebSocketClientTransport(new URL(three.serving.url))));
  onTestFinished(() => client.close());
  return client;
}

/** A bare socket that carries its token as a browser must. */
async function rawClient(id: string, role: string): Promise<RawClient> {
  return openRaw(three.serving.url, { protocols: ['mcp', `mcp.auth.${await three.token(id, role)}`] });
}

type Named = { readonly name: string };

function sorted<T>(items: readonly T[], key: (item: T) => string): T[] {
  return items.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

function publicly<T extends Named>(upstream: string, items: readonly T[]): T[] {
  return items.map((item) => ({ ...item, name: `${upstream}__${item.name}` }));
}

/** What the three servers list to clients of their own, under public names; a resource both list is listed once. */
async function direct() {
  const { everything, files, remote } = three.direct;
  const tools = [
    ...publicly('everything', (await everything.listTools()).tools),
    ...publicly('files', (await files.listTools()).tools),
    ...publicly('remote', (await remote.listTools()).tools),
  ];
  const prompts = [
    ...publicly('everything', (await everything.listPrompts()).prompts),
    ...publicly('remote', (await remote.listPrompts()).prompts),
  ];
  return {
    tools: sorted(tools, ({ name }) => name),
    prompts: sorted(prompts, ({ name }) => name),
    resources: sorted((await everything.listResources()).resources, ({ uri }) => uri),
    resourceTemplates: sorted((await everything.listResourceTemplates()).resourceTemplates, (t) => t.uriTemplate),
  };
}

describe('an admin', () => {
  test('gets the lists that a direct client gets, under public names: an SDK client', async () => {
    const client = await sdkClient('ada', 'admin');
    const { tools } = await client.listTools();
    const { prompts } = await client.listPrompts();
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect({ tools, prompts, resources, resourceTemplates }).toEqual(await direct());
    expect([tools.length, prompts.length, resources.length, resourceTemplates.length]).toEqual([48, 8, 7, 2]);
  });

  test('gets the lists that a direct client gets, under public names: a raw socket', async () => {
    const client = await rawClient('ada', 'admin');
    const expected = await direct();
    const list = (method: string) => client.ask({ jsonrpc: '2.0', id: method, method });
    expect(await list('tools/list')).toEqual({ jsonrpc: '2.0', id: 'tools/list', result: { tools: expected.tools } });
    expect(await list('prompts/list')).toMatchObject({ result: { prompts: expected.prompts } });
    expect(await list('resources/list')).toMatchObject({ result: { resources: expected.resources } });
    expect(await list('resources/templates/list')).toMatchObject({
      result: { resourceTemplates: expected.resourceTemplates },
    });
  });

  test('calls tools on each server, one with structured output', async () => {
    const client = await sdkClient('ada', 'admin');
    const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
    expect(await call('everything__echo', { message: 'hello' })).toEqual({
      content: [{ type: 'text', text: 'Echo: hello' }],
    });
    expect(await call('remote__get-sum', { a: 2, b: 40 })).toMatchObject({
      content: [{ type: 'text', text: 'The sum of 2 and 40 is 42.' }],
    });
    const weather = { name: 'get-structured-content', arguments: { location: 'Chicago' } };
    expect(await call('everything__get-structured-content', weather.arguments)).toEqual(
      await three.direct.everything.callTool(weather),
    );
  });

  test.each(['everything', 'remote'])('sees the progress of a call to %s, all of it before the answer', async (key) => {
    const client = await rawClient('ada', 'admin');
    const params = { name: `${key}__trigger-long-running-operation`, arguments: { duration: 0.2, steps: 2 } };
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { ...params, _meta: { progressToken: 't' } } };
    const step = (progress: number) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progress, total: 2, progressToken: 't' },
    });
    client.send(call);
    const frames = [await client.json()];
    while (!Object.hasOwn(Object(frames.at(-1)), 'id')) frames.push(await client.json());
    // This client declared nothing it could be asked, so its own link lists less than everybody's: it may be told meanwhile.
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    expect(frames.filter((frame) => JSON.stringify(frame) !== JSON.stringify(changed))).toEqual([
      step(1),
      step(2),
      expect.objectContaining({ id: 7, result: expect.anything() }),
    ]);
  });

  test('reads a file through server-filesystem', async () => {
    const client = await sdkClient('ada', 'admin');
    const path = resolve('docs/metrics.md');
    const { content } = await client.callTool({ name: 'files__read_text_file', arguments: { path } });
    expect(content).toEqual([{ type: 'text', text: readFileSync(path, 'utf8') }]);
  });

  test('reads resources, listed and from a template', async () => {
    const client = await sdkClient('ada', 'admin');
    const uri = 'demo://resource/static/document/features.md';
    expect(await client.readResource({ uri })).toEqual(await three.direct.everything.readResource({ uri }));
    const expanded = await client.readResource({ uri: 'demo://resource/dynamic/text/7' });
    expect(expanded.contents).toMatchObject([{ uri: 'demo://resource/dynamic/text/7', mimeType: 'text/plain' }]);
  });

  test('gets prompts and completes their arguments', async () => {
    const client = await sdkClient('ada', 'admin');
    const city = { city: 'Oslo', state: 'Oslo' };
    expect(await client.getPrompt({ name: 'everything__args-prompt', arguments: city })).toEqual(
      await three.direct.everything.getPrompt({ name: 'args-prompt', arguments: city }),
    );
    expect(await client.getPrompt({ name: 'remote__simple-prompt' })).toEqual(
      await three.direct.remote.getPrompt({ name: 'simple-prompt' }),
    );
    const argument = { name: 'department', value: 'E' };
    const ref = { type: 'ref/prompt', name: 'remote__completable-prompt' } as const;
    expect((await client.complete({ ref, argument })).completion.values).toEqual(['Engineering']);
    const uri = 'demo://resource/dynamic/text/{resourceId}';
    const completed = await client.complete({
      ref: { type: 'ref/resource', uri },
      argument: { name: 'resourceId', value: '7' },
    });
    expect(completed.completion.values).toEqual(['7']);
  });
});

describe('a reader', () => {
  test('sees its part only', async () => {
    const client = await sdkClient('rex', 'reader');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'everything__echo',
      'files__list_allowed_directories',
      'files__list_directory',
      'files__list_directory_with_sizes',
      'files__read_text_file',
    ]);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['remote__simple-prompt']);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toHaveLength(7);
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
  });

  test('reaches its part only: the rest is as unknown as what does not exist', async () => {
    const client = await rawClient('rex', 'reader');
    const ask = (method: string, params: object) => client.ask({ jsonrpc: '2.0', id: 1, method, params });
    const refused = (code: number, message: string) => ({ jsonrpc: '2.0', id: 1, error: { code, message } });
    const path = resolve('docs/never-written.md');
    onTestFinished(() => rmSync(path, { force: true }));
    const write = { name: 'files__write_file', arguments: { path, content: 'x' } };
    expect(await ask('tools/call', write)).toEqual(refused(-32602, 'Unknown tool: files__write_file'));
    expect(existsSync(path)).toBe(false);
    expect(await ask('tools/call', { name: 'files__nothing' })).toEqual(
      refused(-32602, 'Unknown tool: files__nothing'),
    );
    expect(await ask('prompts/get', { name: 'everything__simple-prompt' })).toEqual(
      refused(-32602, 'Unknown prompt: everything__simple-prompt'),
    );
    expect(await ask('resources/read', { uri: 'demo://resource/dynamic/text/1' })).toMatchObject({
      error: { code: -32002 },
    });
    const echo = { name: 'everything__echo', arguments: { message: 'mine' } };
    expect(await ask('tools/call', echo)).toMatchObject({
      result: { content: [{ type: 'text', text: 'Echo: mine' }] },
    });
  });
});

test('nobody gets in without a token of this issuer, and every decided call is in the audit', async () => {
  expect((await upgrade(three.serving.url)).status).toBe(401);
  const good = await three.token('ada', 'admin');
  const forged = `${good.slice(0, good.lastIndexOf('.'))}.${Buffer.alloc(32).toString('base64url')}`;
  await expect(connectRaw(three.serving.url, { headers: { authorization: `Bearer ${forged}` } })).rejects.toThrow(
    'HTTP 401',
  );
  const client = await rawClient('eve', 'admin');
  await client.ask({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'everything__get-tiny-image' } });
  const calls = () => three.serving.stdout.filter((line) => line.includes('"eve"') && line.includes('tools/call'));
  await expect.poll(calls).toEqual([expect.stringContaining('"target":"get-tiny-image"')]);
});

test('keys of a key server are fetched once, again when they rotate, and a stalled server is 503 and no 401', async () => {
  const [first, second] = [await makeKey('ES256', 'first'), await makeKey('ES256', 'second')];
  const keys = await startKeyServer(publicKeys(first));
  onTestFinished(() => keys.close());
  const issuer = await makeIssuer({ alg: 'ES256', key: first });
  const fetched = { jwksUri: keys.jwksUri, cooldown: '0s', timeout: '300ms' };
  const gateway = await startGateway({
    auth: { mode: 'jwt', resource: issuer.audience, issuers: [{ issuer: issuer.issuer, keys: fetched }] },
    policy: 'allow-authenticated',
    mcpServers: {},
  });
  const statusOf = async (key: TestKey) => {
    const token = await issuer.sign({}, { key });
    return (await upgrade(gateway.url, { headers: { authorization: `Bearer ${token}` } })).status;
  };
  expect(keys.fetches()).toBe(0);
  expect(await Promise.all([statusOf(first), statusOf(first), statusOf(first)])).toEqual([101, 101, 101]);
  expect([await statusOf(first), keys.fetches()]).toEqual([101, 1]);
  expect([await statusOf(second), keys.fetches()]).toEqual([401, 2]);
  keys.rotate(publicKeys(second));
  expect([await statusOf(second), keys.fetches()]).toEqual([101, 3]);
  keys.stall();
  expect(await statusOf(second)).toBe(101);
  expect(await statusOf(await makeKey('ES256', 'third'))).toBe(503);
  keys.release();
  expect(await statusOf(first)).toBe(401);
});

function publicKeys({ jwk }: TestKey) {
  return jwk === undefined ? [] : [jwk];
}
