import { expect, test } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import { toolCall } from '../../support/messages.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { openRaw } from '../../support/raw-client.ts';
import { type Asked, offering, type ScriptedUpstream, scriptedUpstream } from '../../support/scripted-upstream.ts';

const URI = 'note://one';
const empty = ({ result }: Asked) => result({});

async function slow(more: Readonly<Record<string, unknown>>) {
  const kept: Asked[] = [];
  const upstream = await scriptedUpstream(
    {
      ...offering('slow', 'quick'),
      'resources/list': ({ result }) => result({ resources: [{ uri: `${URI}/${JSON.stringify(more)}`, name: 'one' }] }),
      'resources/subscribe': empty,
      'resources/unsubscribe': empty,
      'tools/call': (asked) => (asked.params.name === 'slow' ? void kept.push(asked) : asked.result({ content: [] })),
    },
    more,
  );
  return { upstream, kept };
}

const heard = ({ links }: ScriptedUpstream, method: string) =>
  links.flatMap((link) => link.heard.filter((message) => message.method === method));

test('a client that goes without a word leaves nothing behind: its calls are cancelled under their upstreams’ ids', async () => {
  const shared = await slow({ isolation: 'shared' });
  const own = await slow({});
  const gateway = await startGateway({ mcpServers: { shared: shared.upstream.entry, own: own.upstream.entry } });
  await gateway.ready();
  const metrics = async () => parseMetrics(await gateway.metrics());
  const gauge = async (name: string, labels = {}) => sampleValue(await metrics(), `mcp_gateway_${name}`, labels);
  const gauges = async () => [
    await gauge('connections'),
    await gauge('inflight_requests'),
    await gauge('outbox_bytes'),
    await gauge('links', { upstream: 'own', isolation: 'session' }),
  ];
  const [client, other] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  for (const uri of [`${URI}/{"isolation":"shared"}`, `${URI}/{}`]) {
    const subscribe = { jsonrpc: '2.0', id: uri, method: 'resources/subscribe', params: { uri } };
    expect(await client.ask(subscribe)).toEqual({ jsonrpc: '2.0', id: uri, result: {} });
  }
  for (const key of ['shared', 'own']) client.send(toolCall(`slow ${key}`, `${key}__slow`));
  await expect.poll(() => [shared.kept.length, own.kept.length]).toEqual([1, 1]);
  expect(await gauges()).toEqual([2, 2, 0, 1]);
  client.socket.terminate();
  await expect.poll(gauges).toEqual([1, 0, 0, 0]);
  for (const { upstream, kept } of [shared, own]) {
    const told = () => heard(upstream, 'notifications/cancelled').map(({ params }) => params);
    await expect.poll(told).toEqual([{ requestId: kept[0]?.id }]);
  }
  await expect.poll(() => heard(shared.upstream, 'resources/unsubscribe')).toHaveLength(1);
  for (const { result } of shared.kept) result({ content: [] });
  expect(await other.ask(toolCall(1, 'shared__quick'))).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } });
  expect(
    sampleValue(await metrics(), 'mcp_gateway_unexpected_answers_total', { source: 'upstream', kind: 'late' }),
  ).toBe(1);
  expect(gateway.log.filter(({ level }) => level === 'error')).toEqual([]);
});
