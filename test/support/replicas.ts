import { expect } from 'vitest';
import { type AdminGateway, startAdminGateway } from './admin-gateway.ts';
import { textAnswer, toolCall } from './messages.ts';
import { parseMetrics, sampleValue } from './prometheus-text.ts';
import { openRaw, type RawClient } from './raw-client.ts';
import { NEWS, type TellingOne } from './telling-one.ts';

const SEAL = { keys: ['a seal key of replicas in tests, 32 bytes'] };
export const TOOLS_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
export const NEWS_UPDATED = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: NEWS } };
const PATIENT = { timeout: 20_000 };

/** Two gateways that share a Redis and an upstream, `up`, and are ready. */
export async function replicas(
  redis: string,
  upstream: TellingOne,
  more: object = {},
): Promise<[AdminGateway, AdminGateway]> {
  const config = { bus: { redis }, seal: SEAL, mcpServers: { up: upstream.entry }, ...more };
  const both = [await startAdminGateway(config), await startAdminGateway(config)] as const;
  for (const gateway of both) await gateway.ready();
  await upstream.hears(2);
  return [...both];
}

/** A client that has opened its session and, unless told otherwise, subscribed to the news. */
export async function reader(gateway: AdminGateway, subscribes = true): Promise<RawClient> {
  const client = await openRaw(gateway.url);
  if (!subscribes) return client;
  const params = { uri: NEWS };
  const answer = await client.ask({ jsonrpc: '2.0', id: 'subscribe', method: 'resources/subscribe', params });
  expect(answer).toEqual({ jsonrpc: '2.0', id: 'subscribe', result: {} });
  return client;
}

/** Calls a tool of the upstream that changes something there, and passes over what else the client is told meanwhile. */
export async function change(client: RawClient, tool: 'add' | 'touch', name = ''): Promise<void> {
  client.send(toolCall(tool, `up__${tool}`, { name }));
  let frame = await client.json();
  while (!isAnswerTo(tool, frame)) frame = await client.json();
  expect(frame).toEqual(textAnswer(tool, 'done'));
}

function isAnswerTo(id: string, frame: unknown): boolean {
  return typeof frame === 'object' && frame !== null && 'id' in frame && frame.id === id;
}

export async function toolNames(client: RawClient): Promise<string[]> {
  const answer = await client.ask({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
  const { result } = answer as { result: { tools: { name: string }[] } };
  return result.tools.map(({ name }) => name);
}

export async function metric(gateway: AdminGateway, name: string, labels: Record<string, string> = {}) {
  return sampleValue(parseMetrics(await gateway.metrics()), name, labels);
}

export async function readiness(gateway: AdminGateway): Promise<[number, unknown]> {
  const response = await fetch(`${gateway.opsUrl}/readyz`);
  return [response.status, await response.json()];
}

/** Resolves when each of them knows that the bus is up, or down. */
export async function bus(state: 'up' | 'down', ...gateways: AdminGateway[]): Promise<void> {
  for (const gateway of gateways) {
    await expect.poll(() => metric(gateway, 'mcp_gateway_bus_up'), PATIENT).toBe(state === 'up' ? 1 : 0);
  }
}

export function logged(gateway: AdminGateway, ...events: string[]): string[] {
  return gateway.log.map(({ event }) => event).filter((event) => events.includes(event));
}
