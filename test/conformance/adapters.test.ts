import { WebSocketClientTransport as SdkWebSocketTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { WebSocketClientTransport } from '../../src/client/index.ts';
import { ADAPTER_STEPS, adapterKit, type KitClient } from '../kits/adapter-kit.ts';
import { KitReport } from '../kits/kit-report.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { loopbackGateway } from '../support/loopback-gateway.ts';
import { sdk1Client } from '../support/sdk1-client.ts';
import { sdk2Client } from '../support/sdk2-client.ts';
import { tcpTransport } from '../support/tcp-client.ts';

type McpServers = Readonly<Record<string, unknown>>;

const CLIENTS: Readonly<Record<string, (transport: Transport) => Promise<KitClient>>> = {
  'SDK 1.x': sdk1Client,
  'SDK 2.x legacy': (transport) => sdk2Client(transport, 'legacy'),
  'SDK 2.x auto': (transport) => sdk2Client(transport, 'auto'),
  'SDK 2.x pinned': (transport) => sdk2Client(transport, 'pinned'),
};

const TRANSPORTS: Readonly<Record<string, (mcpServers: McpServers) => Promise<Transport>>> = {
  loopback: loopbackGateway,
  TCP: async (mcpServers) => tcpTransport((await gatewayOf(mcpServers)).tcp),
  WebSocket: async (mcpServers) => new WebSocketClientTransport({ url: (await gatewayOf(mcpServers)).url }),
  // The one SDK 1.x brings with it; 2.x has none.
  'WebSocket of SDK 1.x': async (mcpServers) => new SdkWebSocketTransport(new URL((await gatewayOf(mcpServers)).url)),
};

async function gatewayOf(mcpServers: McpServers): Promise<TestGateway> {
  const gateway = await startGateway({ listen: { port: 0, tcp: { port: 0 } }, mcpServers });
  await gateway.ready();
  return gateway;
}

const WAYS = Object.entries(CLIENTS).flatMap(([client, openClient]) =>
  Object.entries(TRANSPORTS).map(([transport, open]) => {
    const wayIn = async (mcpServers: McpServers) => openClient(await open(mcpServers));
    return [`${client} over ${transport}`, wayIn] as const;
  }),
);

const report = new KitReport(
  WAYS.map(([name]) => name),
  ADAPTER_STEPS,
);

beforeAll(() => {
  Object.assign(globalThis, { WebSocket });
});

describe.each(WAYS)('%s', (name, wayIn) => {
  adapterKit(wayIn, (step, task) => report.ran(name, step, task));
});

test('every combination has run and passed', () => {
  process.stdout.write(`\nThe adapter kit, ${WAYS.length} combinations\n${report.text}\n`);
  expect(report.missing).toEqual([]);
});
