import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { WebSocketClientTransport } from '../../src/client/index.ts';
import { tapped } from '../support/frame-tap.ts';
import { offering, scriptedUpstream } from '../support/scripted-upstream.ts';
import { secondsAfter, TOKEN_EXTENSION, tokenGateway } from '../support/token-gateway.ts';

const Refreshed = z.object({ expiresAt: z.string() });

async function gatewayAndTransport() {
  const up = await scriptedUpstream({ ...offering('run'), 'tools/call': ({ result }) => result({ content: [] }) });
  const gateway = await tokenGateway({ mcpServers: { up: up.entry } });
  const transport = tapped(new WebSocketClientTransport({ url: gateway.url, token: await gateway.token(300) }));
  return {
    ...gateway,
    transport,
    refresh: { method: 'ws-gateway/refreshToken', params: { token: await gateway.token(900) } },
  };
}

test('a client of SDK 1.x hears of the end and brings a fresh token by its own means', async () => {
  const { transport, refresh, clock } = await gatewayAndTransport();
  const client = new Client1({ name: 'one', version: '1' }, { capabilities: TOKEN_EXTENSION });
  const heard = vi.fn();
  client.fallbackNotificationHandler = async (notification) => heard(notification);
  await client.connect(transport);
  onTestFinished(() => client.close());
  clock.advance(270_000);
  await expect.poll(() => heard.mock.calls).toHaveLength(1);
  expect(heard).toHaveBeenCalledWith(expect.objectContaining({ method: 'ws-gateway/tokenExpiring' }));
  expect(await client.request(refresh, Refreshed)).toMatchObject({ expiresAt: secondsAfter(900) });
  clock.advance(100_000);
  expect(await client.callTool({ name: 'up__run' })).toMatchObject({ content: [] });
});

test('so does a client of SDK 2.x in the modern era', async () => {
  const { transport, refresh, clock } = await gatewayAndTransport();
  const client = new Client2(
    { name: 'two', version: '1' },
    { capabilities: TOKEN_EXTENSION, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const heard = vi.fn();
  client.fallbackNotificationHandler = async (notification) => heard(notification);
  await client.connect(transport);
  onTestFinished(() => client.close());
  await client.listTools();
  clock.advance(270_000);
  await expect.poll(() => heard.mock.calls).toHaveLength(1);
  expect(heard).toHaveBeenCalledWith(expect.objectContaining({ method: 'ws-gateway/tokenExpiring' }));
  expect(await client.request(refresh, Refreshed)).toMatchObject({ expiresAt: secondsAfter(900) });
  clock.advance(100_000);
  expect(await client.callTool({ name: 'up__run' })).toMatchObject({ content: [] });
});
