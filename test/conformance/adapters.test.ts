import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { beforeAll, describe } from 'vitest';
import WebSocket from 'ws';
import { adapterKit } from '../kits/adapter-kit.ts';
import { startGateway } from '../support/gateway.ts';
import { loopbackGateway } from '../support/loopback-gateway.ts';
import { sdk1Client } from '../support/sdk1-client.ts';

describe('SDK 1.x adapter over loopback', () => {
  adapterKit(async (mcpServers) => sdk1Client(await loopbackGateway(mcpServers)));
});

describe('SDK 1.x adapter over WebSocket', () => {
  beforeAll(() => {
    Object.assign(globalThis, { WebSocket });
  });

  adapterKit(async (mcpServers) => {
    const gateway = await startGateway({ mcpServers });
    await gateway.ready();
    return sdk1Client(new WebSocketClientTransport(new URL(gateway.url)));
  });
});
