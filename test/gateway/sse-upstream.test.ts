import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { exactUpstreamKit } from '../kits/exact-upstream-kit.ts';
import { socketUpstreamKit } from '../kits/socket-upstream-kit.ts';
import { exactAnswer } from '../support/exact-peer.ts';
import { startGateway } from '../support/gateway.ts';
import { answerStatus, type Exchange, openHttpUpstream } from '../support/http-upstream.ts';
import { errorAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { sseLibrary } from '../support/socket-library.ts';

socketUpstreamKit(sseLibrary);
exactUpstreamKit(async () => (await exactServer()).entry);

interface Script {
  /** The data of the `endpoint` event. */
  readonly endpoint: string;
  /** The status of the POST of this body. */
  readonly status: (body: string) => number;
  /** Takes the response to the POST whose body holds the word, in place of answering it. */
  readonly hold: { readonly word: string; take(response: ServerResponse): void };
}

/** A bare server of the 2024-11-05 transport that answers as `exactAnswer` does, with one stream at a time for each path. */
async function exactServer({ endpoint = '?post=1', status = () => 202, hold }: Partial<Script> = {}) {
  const streams: ServerResponse[] = [];
  const upstream = await openHttpUpstream(({ method, body, response }: Exchange) => {
    if (method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const id = streams.push(response) - 1;
      response.write(`event: endpoint\ndata: ${endpoint}&stream=${id}\n\n`);
      return;
    }
    if (hold !== undefined && body.includes(hold.word)) return hold.take(response);
    if (method !== 'POST') return answerStatus(response, 405);
    answerStatus(response, status(body));
    const answer = status(body) === 202 ? exactAnswer(body) : undefined;
    const id = Number(new URL(response.req.url ?? '', 'http://h').searchParams.get('stream'));
    if (answer !== undefined) streams[id]?.write(`event: message\ndata: ${answer}\n\n`);
  });
  onTestFinished(() => upstream.close());
  return { streams, exchanges: upstream.exchanges, entry: { type: 'sse', url: upstream.url } };
}

test('the stream and every message carry the configured headers, and messages go where the server said', async () => {
  const { entry, exchanges } = await exactServer();
  const headers = { authorization: 'Bearer upstream-secret' };
  const gateway = await startGateway({ mcpServers: { up: { ...entry, headers } } });
  await gateway.ready();
  expect(exchanges.length).toBeGreaterThan(3);
  expect(exchanges.map((exchange) => exchange.headers.authorization)).toEqual(
    exchanges.map(() => 'Bearer upstream-secret'),
  );
  expect(exchanges.slice(0, 3).map(({ method }) => method)).toEqual(['GET', 'POST', 'POST']);
  expect(exchanges[0]?.headers.accept).toBe('text/event-stream');
  expect(JSON.parse(exchanges[1]?.body ?? '')).toMatchObject({ method: 'initialize' });
  expect(JSON.parse(exchanges[2]?.body ?? '')).toMatchObject({ method: 'notifications/initialized' });
});

test('nothing is sent before the server has taken notifications/initialized', async () => {
  const held: ServerResponse[] = [];
  const hold = { word: '"notifications/initialized"', take: (response: ServerResponse) => held.push(response) };
  const { entry, exchanges } = await exactServer({ hold });
  const gateway = await startGateway({ mcpServers: { up: entry } });
  await expect.poll(() => held.length).toBe(1);
  for (let round = 0; round < 5; round += 1) await fetch(entry.url, { method: 'DELETE' });
  const posts = () => exchanges.filter(({ method }) => method === 'POST');
  expect(posts()).toHaveLength(2);
  held[0]?.writeHead(202).end();
  await gateway.ready();
  expect(posts()[2]?.body).toContain('"tools/list"');
});

test('a cancellation sent with the end of a session still gets through', async () => {
  const held: ServerResponse[] = [];
  const hold = { word: '"notifications/cancelled"', take: (response: ServerResponse) => held.push(response) };
  const { entry, exchanges, streams } = await exactServer({ hold });
  const gateway = await startGateway({ mcpServers: { up: entry } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  client.send(toolCall(1, 'up__never'));
  await expect.poll(() => exchanges.at(-1)?.body).toContain('"never"');
  client.socket.terminate();
  await expect.poll(() => [held.length, streams[1]?.closed]).toEqual([1, true]);
  await fetch(entry.url, { method: 'DELETE' });
  expect(held[0]?.closed).toBe(false);
  held[0]?.writeHead(202).end();
});

describe('an endpoint is not taken', () => {
  test.each([
    'http://127.0.0.1:1/x?',
    'https://evil.example/x?',
    '//evil.example/x?',
    'http://a:b@127.0.0.1/?',
    'data:,?',
  ])('%s', async (endpoint) => {
    const { entry, exchanges } = await exactServer({ endpoint });
    const gateway = await startGateway({ mcpServers: { up: entry } });
    await gateway.ready();
    const failure = gateway.log.find(({ event }) => event === 'upstream_unavailable');
    expect(failure?.fields.err).toMatchObject({
      message: 'the message endpoint is not of the origin of the stream',
    });
    expect(exchanges.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});

test('a message that is refused fails its own call alone', async () => {
  const { entry } = await exactServer({ status: (body) => (body.includes('"refuse me"') ? 500 : 202) });
  const gateway = await startGateway({ mcpServers: { up: { ...entry, isolation: 'shared' } } });
  await gateway.ready();
  const [client, other] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  client.send(toolCall(1, 'up__never'));
  expect(await client.ask(toolCall(2, 'up__echo', { text: 'refuse me' }))).toEqual(
    errorAnswer(2, -32603, 'The upstream cannot be reached', { reason: 'upstream_unavailable', retryable: true }),
  );
  expect(await other.ask(toolCall(3, 'up__echo'))).toMatchObject({ id: 3, result: { content: [] } });
  expect(await client.barrier()).toEqual([]);
});

test('a stream that ends fails its calls, and the next one is a new session', async () => {
  const { entry, streams, exchanges } = await exactServer();
  const gateway = await startGateway({ mcpServers: { up: { ...entry, isolation: 'shared' } } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  client.send(toolCall(1, 'up__never'));
  await expect.poll(() => exchanges.at(-1)?.body).toContain('"never"');
  streams[0]?.end();
  expect(await client.json()).toMatchObject({ id: 1, error: { data: { reason: 'upstream_closed' } } });
  await expect.poll(() => client.ask(toolCall(2, 'up__echo')), { timeout: 5000 }).toMatchObject({ result: {} });
  expect(streams).toHaveLength(2);
  expect(exchanges.filter(({ body }) => body.includes('"initialize"'))).toHaveLength(2);
});

test('an answer over the limit ends the stream, and the gateway comes back', async () => {
  const { entry, streams } = await exactServer();
  const limits = { maxUpstreamMessage: '64KiB' };
  const gateway = await startGateway({ mcpServers: { up: { ...entry, isolation: 'shared' } }, limits });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  expect(await client.ask(toolCall(1, 'up__long'))).toMatchObject({
    id: 1,
    error: { data: { reason: 'upstream_closed' } },
  });
  await expect.poll(() => client.ask(toolCall(2, 'up__echo')), { timeout: 5000 }).toMatchObject({ result: {} });
  expect(streams).toHaveLength(2);
});

test('what is no event stream is an upstream that cannot be reached', async () => {
  const upstream = await openHttpUpstream(({ response }) => answerStatus(response, 404));
  onTestFinished(() => upstream.close());
  const gateway = await startGateway({ mcpServers: { up: { type: 'sse', url: upstream.url } } });
  await gateway.ready();
  const failure = gateway.log.find(({ event }) => event === 'upstream_unavailable');
  expect(failure?.fields.err).toMatchObject({ message: 'HTTP 404' });
});
