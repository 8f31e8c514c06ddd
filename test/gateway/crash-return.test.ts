import { describe, expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { stdioLibrary } from '../support/library.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';

const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const ECHO = '[{"name":"echo","inputSchema":{"type":"object"}}]';
const closed = (id: number) =>
  errorAnswer(id, -32603, 'The upstream went away during the call', { reason: 'upstream_closed', retryable: true });

async function text(client: RawClient, tool: string): Promise<string> {
  const answer = await client.ask(toolCall('text', tool));
  return (answer as { result: { content: [{ text: string }] } }).result.content[0].text;
}

async function names(client: RawClient): Promise<string[]> {
  const answer = await client.ask({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
  return (answer as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
}

async function kill(client: RawClient, tool: string): Promise<number> {
  const pid = Number(await text(client, tool));
  process.kill(pid, 'SIGKILL');
  return pid;
}

/** Calls until an upstream that is being started again answers. */
const answers = (client: RawClient, tool: string) =>
  expect
    .poll(() => client.ask(toolCall('again', tool, { text: 'back' })), { timeout: 5000 })
    .toEqual(textAnswer('again', 'back'));

test('a killed child fails its calls in flight within a second, disturbs nobody else, and comes back', async () => {
  const library = await stdioLibrary({ isolation: 'shared' });
  const gateway = await startGateway({
    mcpServers: { up: library.entry, other: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) },
  });
  await gateway.ready();
  const [client, bystander] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  const before = await names(client);
  const pid = Number(await text(client, 'up__pid'));
  bystander.send(toolCall(1, 'other__hold', { key: 'kept' }));
  client.send(toolCall(1, 'up__wait'));
  await expect.poll(() => library.lines().some((line) => line.startsWith('waiting '))).toBe(true);
  const killedAt = performance.now();
  process.kill(pid, 'SIGKILL');
  expect(await client.json()).toEqual(closed(1));
  expect(performance.now() - killedAt).toBeLessThan(1000);
  expect(await client.ask(toolCall(2, 'up__echo', { text: 'too soon' }))).toEqual(
    errorAnswer(2, -32603, 'The upstream cannot be reached', {
      reason: 'upstream_unavailable',
      retryable: true,
      retryAfterMs: expect.any(Number),
    }),
  );
  expect(await names(client)).toEqual(before);
  expect(await client.ask(toolCall(3, 'other__release', { key: 'kept' }))).toEqual(textAnswer(3, 'released'));
  expect(await bystander.json()).toEqual(textAnswer(1, 'kept'));
  await answers(client, 'up__echo');
  expect(Number(await text(bystander, 'up__pid'))).not.toBe(pid);
  const counted = parseMetrics(await gateway.metrics());
  const of = (name: string, upstream: string) => sampleValue(counted, `mcp_gateway_${name}`, { upstream });
  expect([of('upstream_restarts_total', 'up'), of('upstream_up', 'up'), of('upstream_up', 'other')]).toEqual([1, 1, 1]);
  expect([await client.barrier(), await bystander.barrier()]).toEqual([[], []]);
});

test('definitions leave after `keepListed` and come back with their upstream, told once each', async () => {
  const { url, ready } = await startGateway({
    mcpServers: {
      up: stdioUpstream('plain.mjs', [], { isolation: 'shared', keepListed: '50ms' }),
      other: stdioUpstream('lists.mjs', ['', JSON.stringify({ pages: [ECHO] })], { isolation: 'shared' }),
    },
  });
  await ready();
  const [client, listener] = [await openRaw(url), await openRaw(url)];
  const before = await names(listener);
  await kill(client, 'up__pid');
  expect(await listener.next()).toBe(CHANGED);
  expect(await names(listener)).toEqual(['other__echo']);
  expect(await listener.next()).toBe(CHANGED);
  expect(await names(listener)).toEqual(before);
  expect(await client.barrier()).toEqual([CHANGED, CHANGED]);
  expect(await client.ask(toolCall(1, 'up__echo', { text: 'back' }))).toEqual(textAnswer(1, 'back'));
  expect(await listener.barrier()).toEqual([]);
});

describe('with a link for each session', () => {
  test('a killed child fails its own session’s calls, and the next call opens another', async () => {
    const { url, ready } = await startGateway({ mcpServers: { up: stdioUpstream('plain.mjs') } });
    await ready();
    const [client, other] = [await openRaw(url), await openRaw(url)];
    const others = await text(other, 'up__pid');
    const pid = Number(await text(client, 'up__pid'));
    expect(Number(others)).not.toBe(pid);
    client.send(toolCall(1, 'up__wait'));
    expect(await client.barrier()).toEqual([]);
    process.kill(pid, 'SIGKILL');
    expect(await client.json()).toEqual(closed(1));
    expect(await client.ask(toolCall(2, 'up__echo', { text: 'at once' }))).toEqual(textAnswer(2, 'at once'));
    expect(Number(await text(client, 'up__pid'))).not.toBe(pid);
    expect(await text(other, 'up__pid')).toBe(others);
  });
});
