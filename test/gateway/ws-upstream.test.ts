import { describe, expect, test } from 'vitest';
import { exactUpstreamKit, longAnswerKit } from '../kits/exact-upstream-kit.ts';
import { socketUpstreamKit } from '../kits/socket-upstream-kit.ts';
import { exactAnswer } from '../support/exact-peer.ts';
import { startGateway } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { type RawPeer, type RawServerOptions, rawServer } from '../support/raw-server.ts';
import { wsLibrary } from '../support/socket-library.ts';

socketUpstreamKit(wsLibrary);
exactUpstreamKit(async () => ({ url: (await exactServer()).url }));
longAnswerKit(async () => ({ url: (await exactServer()).url }));

/** A bare server each of whose connections answers as `exactAnswer` does; `heard` gets each when it opens. */
async function exactServer(heard: (peer: RawPeer) => void = () => {}, options: RawServerOptions = {}) {
  const server = await rawServer(options);
  const serve = async (): Promise<never> => {
    const peer = await server.accept();
    peer.socket.on('message', (data) => {
      const answer = exactAnswer(data.toString());
      if (answer !== undefined) peer.socket.send(answer);
    });
    heard(peer);
    return serve();
  };
  void serve();
  return server;
}

test('the upgrade offers mcp and carries the configured headers', async () => {
  const library = await wsLibrary({ headers: { authorization: 'Bearer upstream-secret', 'x-team': 'blue' } });
  const gateway = await startGateway({ mcpServers: { up: library.entry } });
  await gateway.ready();
  expect(library.requests[0]?.headers).toMatchObject({
    'sec-websocket-protocol': 'mcp',
    authorization: 'Bearer upstream-secret',
    'x-team': 'blue',
  });
});

test('a refused upgrade is an upstream that cannot be reached, by its status, and no header is logged', async () => {
  const { url } = await rawServer({ refuse: { status: 403, headers: {} } });
  const entry = { url, headers: { authorization: 'Bearer upstream-secret' } };
  const gateway = await startGateway({ mcpServers: { up: entry } });
  await gateway.ready();
  const failure = gateway.log.find(({ event }) => event === 'upstream_unavailable');
  expect(failure?.fields.err).toMatchObject({ message: 'the upgrade was refused: HTTP 403' });
  expect(JSON.stringify(gateway.log)).not.toContain('upstream-secret');
});

test('binary messages and noise are ignored, and what comes behind them is not', async () => {
  const { url } = await exactServer(({ socket }) => {
    socket.send(Buffer.from('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'), { binary: true });
    socket.send('noise');
  });
  const gateway = await startGateway({ mcpServers: { up: { url } } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  expect(await client.ask(toolCall(1, 'up__echo'))).toMatchObject({ id: 1, result: { content: [] } });
  expect(gateway.log.map(({ event }) => event)).toContain('upstream_binary_message');
  expect(await gateway.metrics()).toContain('unexpected_answers_total{source="upstream",kind="noise"} 3\n');
});

test('a server that answers no pings is given up, and its calls fail', async () => {
  const { url } = await exactServer(undefined, { autoPong: false });
  const limits = { pingInterval: '100ms', pongTimeout: '200ms' };
  const gateway = await startGateway({ mcpServers: { up: { url } }, limits });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  expect(await client.ask(toolCall(1, 'up__never'))).toMatchObject({
    id: 1,
    error: { code: -32603, data: { reason: 'upstream_closed' } },
  });
});

describe('a gateway behind a gateway', () => {
  test('serves what the inner one serves', async () => {
    const library = await wsLibrary();
    const inner = await startGateway({ mcpServers: { in: library.entry } });
    await inner.ready();
    const outer = await startGateway({ mcpServers: { out: { url: inner.url } } });
    await outer.ready();
    const client = await openRaw(outer.url);
    const call = toolCall(1, 'out__in__echo', { text: 'twice' });
    expect(await client.ask(call)).toMatchObject(textAnswer(1, 'twice'));
  });
});
