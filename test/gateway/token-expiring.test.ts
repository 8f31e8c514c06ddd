import { describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { connectRaw } from '../support/raw-client.ts';
import { scriptedUpstream } from '../support/scripted-upstream.ts';
import { refresh, secondsAfter, TOKEN_EXTENSION, tokenGateway } from '../support/token-gateway.ts';

const OWN = { 'ws-gateway/token': {} };
const DAY = 86_400;
const expiring = (endsAfter: number, inSeconds: number) =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'ws-gateway/tokenExpiring',
    params: { expiresAt: secondsAfter(endsAfter), expiresInMs: inSeconds * 1000 },
  });
const listing = (id: number, capabilities: object) => modernRequest(id, 'tools/list', {}, { capabilities });

describe('a client that declared the extension is told once', () => {
  test.each([
    ['a tenth of its life before a short token ends', 300, 30],
    ['a minute before a long one ends', DAY, 60],
    ['a minute before one ends that no single timer could wait for', 60 * DAY, 60],
  ])('%s', async (_title, life, notice) => {
    const { clock, open } = await tokenGateway({ limits: { pingInterval: '90d' } });
    const client = await open(life, {}, TOKEN_EXTENSION);
    await client.barrier();
    clock.advance((life - notice) * 1000 - 1);
    expect(await client.barrier()).toEqual([]);
    clock.advance(1);
    expect(await client.barrier()).toEqual([expiring(life, notice)]);
    clock.advance((notice - 1) * 1000);
    expect(await client.barrier()).toEqual([]);
    clock.advance(1000);
    expect(await client.closed).toEqual({ code: 4401, reason: 'unauthenticated' });
  });

  test('of each token: again after a refresh, by the new one’s end', async () => {
    const { clock, open, token } = await tokenGateway();
    const client = await open(300, {}, TOKEN_EXTENSION);
    clock.advance(270_000);
    expect(await client.next()).toBe(expiring(300, 30));
    expect(await client.ask(refresh(1, await token(600)))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { expiresAt: secondsAfter(870) },
    });
    clock.advance(539_999);
    expect(await client.barrier()).toEqual([]);
    clock.advance(1);
    expect(await client.barrier()).toEqual([expiring(870, 60)]);
  });

  test('where it declared it as its revision can: under experimental, not before initialized', async () => {
    const { clock, connect } = await tokenGateway();
    const client = await connect(300);
    const clientInfo = { name: 'raw', version: '0' };
    const params = { protocolVersion: '2024-11-05', capabilities: { experimental: OWN }, clientInfo };
    await client.ask({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    clock.advance(270_000);
    expect(await client.barrier()).toEqual([]);
    client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(await client.next()).toBe(expiring(300, 30));
    client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(await client.barrier()).toEqual([]);
  });

  test('in the modern era where any of its requests declared it, at once if it is time', async () => {
    const { clock, connect } = await tokenGateway();
    const early = await connect(300);
    const late = await connect(300);
    await early.ask(listing(1, TOKEN_EXTENSION));
    await late.ask(listing(1, { extensions: { 'com.example/other': {} } }));
    clock.advance(270_000);
    expect(await early.next()).toBe(expiring(300, 30));
    late.send(listing(2, TOKEN_EXTENSION));
    expect(await late.next()).toBe(expiring(300, 30));
    expect(await late.json()).toMatchObject({ id: 2 });
  });
});

test('a client that did not declare it hears nothing, in either era', async () => {
  const { clock, open, connect } = await tokenGateway();
  const handshake = await open(300, {}, { extensions: { 'com.example/other': {} } });
  const modern = await connect(300);
  await modern.ask(listing(1, { experimental: { 'ws-gateway/token': true } }));
  clock.advance(299_000);
  expect(await handshake.barrier()).toEqual([]);
  expect(await modern.ask(listing(2, {}))).toMatchObject({ id: 2 });
});

describe('the extension', () => {
  const announcing = () =>
    scriptedUpstream({
      initialize: ({ result }) =>
        result({
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, extensions: { 'ws-gateway/token': { of: 'the upstream' }, 'x/y': {} } },
          serverInfo: { name: 'up', version: '1' },
        }),
      'tools/list': ({ result }) => result({ tools: [{ name: 'run', inputSchema: { type: 'object' } }] }),
      'tools/call': ({ result }) => result({ content: [] }),
    });

  test('is announced in both eras to who comes by a token, as the gateway’s own', async () => {
    const up = await announcing();
    const { connect } = await tokenGateway({ mcpServers: { up: up.entry } });
    const handshake = await connect(300);
    const extensions = { 'x/y': {}, 'ws-gateway/token': {} };
    expect(await handshake.initialize()).toHaveProperty('result.capabilities.extensions', extensions);
    const modern = await connect(300);
    expect(await modern.ask(modernRequest(1, 'server/discover'))).toHaveProperty(
      'result.capabilities.extensions',
      extensions,
    );
  });

  test('is announced to nobody in anonymous mode, whatever an upstream says', async () => {
    const up = await announcing();
    const gateway = await startGateway({ mcpServers: { up: up.entry } });
    await gateway.ready();
    const client = await connectRaw(gateway.url);
    expect(await client.initialize()).toHaveProperty('result.capabilities.extensions', { 'x/y': {} });
  });

  test('is declared to no upstream', async () => {
    const up = await announcing();
    const { open } = await tokenGateway({ mcpServers: { up: up.entry } });
    const client = await open(300, {}, { extensions: { ...OWN, 'x/y': {} } });
    await client.ask({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'up__run', arguments: {} } });
    const [, own] = up.links.flatMap(({ heard }) => heard.filter(({ method }) => method === 'initialize'));
    expect(own).toHaveProperty('params.capabilities', { extensions: { 'x/y': {} } });
  });
});
