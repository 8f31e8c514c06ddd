import { once } from 'node:events';
import { expect } from 'vitest';
import { DRAINED, DRAINING_DATA } from '../../support/drained.ts';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../../support/messages.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { connectRaw, openRaw } from '../../support/raw-client.ts';
import { verifies } from '../verifies.ts';

const heard = recordFile();
const plain = () => stdioUpstream('plain.mjs', [heard.path], { isolation: 'shared' });

verifies('close.echo', 'a close frame of the client is answered with its own code', async () => {
  const { url } = await startGateway({});
  for (const code of [1000, 1001, 4999]) {
    const client = await openRaw(url);
    client.socket.close(code, 'bye');
    expect((await client.closed).code).toBe(code);
  }
});

verifies(
  'drain.over',
  'what outlasts the drain ends in an error, is cancelled, and then the socket closes',
  async () => {
    const gateway = await startGateway({ timing: { drain: { inFlight: '200ms' } }, mcpServers: { up: plain() } });
    await gateway.ready();
    const client = await openRaw(gateway.url);
    client.send(toolCall(1, 'up__wait'));
    client.send(toolCall('1', 'up__wait'));
    expect(await client.barrier()).toEqual([]);
    const closing = gateway.close();
    expect([await client.json(), await client.json()]).toEqual([
      errorAnswer(1, -32603, 'The gateway is shutting down', DRAINING_DATA),
      errorAnswer('1', -32603, 'The gateway is shutting down', DRAINING_DATA),
    ]);
    expect(await client.closed).toEqual(DRAINED);
    await closing;
  },
);

verifies(
  ['drain.new', 'drain.idle'],
  'while it drains, pings and lists are answered and nothing else is begun',
  async () => {
    const gateway = await startGateway({ mcpServers: { up: plain() } });
    await gateway.ready();
    const [client, idle] = [await openRaw(gateway.url), await openRaw(gateway.url)];
    client.send(toolCall(1, 'up__hold', { key: 'drained' }));
    await expect.poll(() => heard.lines()).toContain('holding drained');
    client.send(toolCall(2, 'up__beat', { every: 50, times: 20 }, { progressToken: 2 }));
    await client.next();
    const closing = gateway.close();
    expect(await idle.closed).toEqual(DRAINED);
    // Its own turn is 20 ms later.
    await client.next();
    await client.next();
    const asked = ['ping', 'tools/list', 'logging/setLevel'];
    for (const method of asked) client.send({ jsonrpc: '2.0', id: method, method });
    const frames: string[] = [];
    while (!frames.at(-1)?.includes('"id":2')) frames.push(await client.next());
    const answers = frames.map((frame) => JSON.parse(frame)).filter(({ id }) => id !== undefined);
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 'ping', result: {} },
      { jsonrpc: '2.0', id: 'tools/list', result: { tools: expect.any(Array) } },
      errorAnswer('logging/setLevel', -32603, 'The gateway is shutting down', DRAINING_DATA),
      textAnswer(2, 'beat 20'),
    ]);
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await client.closed).toEqual(DRAINED);
    await closing;
  },
);

verifies('ping.frame', 'a quiet socket hears ping frames and no message', async () => {
  const { url } = await startGateway({ limits: { pingInterval: '100ms', pongTimeout: '1s' } });
  const client = await openRaw(url);
  await once(client.socket, 'ping');
  await once(client.socket, 'ping');
  expect(await client.barrier()).toEqual([]);
});

verifies('ping.lost', 'a socket that answers nothing is terminated, one that does is not', async () => {
  const gateway = await startGateway({ limits: { pingInterval: '100ms', pongTimeout: '1s' } });
  const [silent, alive] = [await connectRaw(gateway.url), await openRaw(gateway.url)];
  silent.socket.pause();
  const terminated = async () =>
    sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_connections_closed_total', {
      code: '1006',
      by: 'gateway',
    });
  await expect.poll(terminated, { timeout: 10_000 }).toBe(1);
  silent.socket.resume();
  expect(await silent.closed).toEqual({ code: 1006, reason: '' });
  expect(await alive.barrier()).toEqual([]);
});
