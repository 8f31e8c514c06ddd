import { describe } from 'vitest';
import { WebSocketClientTransport } from '../../src/client/index.ts';
import { adapterKit, type KitClient } from '../kits/adapter-kit.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { sdk1Client } from '../support/sdk1-client.ts';
import { sdk2Client } from '../support/sdk2-client.ts';
import { tcpTransport } from '../support/tcp-client.ts';

type Open = (gateway: TestGateway) => Promise<KitClient>;

const WAYS: readonly (readonly [name: string, open: Open])[] = [
  ['SDK 1.x over the client library', ({ url }) => sdk1Client(new WebSocketClientTransport({ url }))],
  ['SDK 2.x over the client library', ({ url }) => sdk2Client(new WebSocketClientTransport({ url }))],
  ['SDK 1.x over TCP', ({ tcp }) => sdk1Client(tcpTransport(tcp))],
  ['SDK 2.x over TCP', ({ tcp }) => sdk2Client(tcpTransport(tcp))],
];

describe.each(WAYS)('%s, in the handshake era', (_name, open) => {
  adapterKit(async (mcpServers) => {
    const gateway = await startGateway({ listen: { port: 0, tcp: { port: 0 } }, mcpServers });
    await gateway.ready();
    return open(gateway);
  });
});
