import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';

/** Lines of the scrape that begin with this. */
async function shown({ metrics }: { readonly metrics: () => Promise<string> }, name: string): Promise<string[]> {
  return (await metrics()).split('\n').filter((line) => line.startsWith(`mcp_gateway_${name}{`));
}

test('what the configuration allows stands beside what there is, by its key, and what has no limit has no series', async () => {
  const gateway = await startGateway({
    limits: { connections: 7, children: 3, bufferedTotal: '64MiB', handshakes: { pending: 9 } },
  });
  expect(await shown(gateway, 'limit')).toEqual([
    'mcp_gateway_limit{limit_name="connections"} 7',
    'mcp_gateway_limit{limit_name="connectionsPerPrincipal"} 20',
    'mcp_gateway_limit{limit_name="handshakes.pending"} 9',
    'mcp_gateway_limit{limit_name="handshakes.perSecond"} 500',
    'mcp_gateway_limit{limit_name="inFlight"} 64',
    'mcp_gateway_limit{limit_name="subscriptions"} 64',
    'mcp_gateway_limit{limit_name="outbox"} 16777216',
    'mcp_gateway_limit{limit_name="bufferedTotal"} 67108864',
    'mcp_gateway_limit{limit_name="children"} 3',
    'mcp_gateway_limit{limit_name="childrenPerPrincipal"} 8',
    'mcp_gateway_limit{limit_name="childStartsPerSecond"} 5',
  ]);
});

test('a share of the memory is shown in bytes', async () => {
  const gateway = await startGateway({ limits: { bufferedTotal: '10%', connectionsPerAddress: 4 } });
  const lines = await shown(gateway, 'limit');
  const bytes = lines.map((line) => /"bufferedTotal"} (\d+(?:\.\d+)?)$/.exec(line)?.[1]).find(Boolean);
  expect(Number(bytes)).toBeGreaterThan(1024 * 1024);
  expect(lines).toContain('mcp_gateway_limit{limit_name="connectionsPerAddress"} 4');
});

test('each upstream has its timeout', async () => {
  const gateway = await startGateway({
    mcpServers: { quick: { url: 'http://127.0.0.1:9/', timeout: '1500ms' }, usual: { url: 'http://127.0.0.1:9/' } },
  });
  expect(await shown(gateway, 'upstream_timeout_seconds')).toEqual([
    'mcp_gateway_upstream_timeout_seconds{upstream="quick"} 1.5',
    'mcp_gateway_upstream_timeout_seconds{upstream="usual"} 120',
  ]);
});
