import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { httpLibrary, type Library, type OpenLibrary, stdioLibrary } from '../support/library.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';

const ONE = 'lib://books/1';
const TWO = 'lib://books/2';
const ask = (client: RawClient, method: 'subscribe' | 'unsubscribe', uri: string) =>
  client.ask({ jsonrpc: '2.0', id: method, method: `resources/${method}`, params: { uri } });
const done = (method: 'subscribe' | 'unsubscribe') => ({ jsonrpc: '2.0', id: method, result: {} });
const updated = (uri: string) => ({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } });
const updatedText = (uri: string) => JSON.stringify(updated(uri));
const seen = (library: Library) => library.lines().filter((line) => /^(un)?subscribe /.test(line));

async function subscribe(client: RawClient, uri: string): Promise<void> {
  expect(await ask(client, 'subscribe', uri)).toEqual(done('subscribe'));
}

/** Updates a resource; resolves with how many of the library's sessions were subscribed to it. */
async function touch(client: RawClient, uri: string): Promise<unknown> {
  const answer = await client.ask(toolCall('touch', 'up__touch', { uri }));
  return (answer as { result: { content: { text: string }[] } }).result.content[0]?.text;
}

async function received(client: RawClient, count: number): Promise<unknown[]> {
  const frames: unknown[] = [];
  while (frames.length < count) frames.push(await client.json());
  return frames;
}

async function answered404(request: IncomingMessage, response: ServerResponse): Promise<true> {
  request.resume();
  response.writeHead(404).end();
  return true;
}

async function openGateway(library: Library, more: object = {}) {
  const gateway = await startGateway({ mcpServers: { up: library.entry }, ...more });
  await gateway.ready();
  return gateway;
}

const ways: [string, OpenLibrary][] = [
  ['stdio', stdioLibrary],
  ['Streamable HTTP', httpLibrary],
];

describe.each(ways)('on a shared upstream over %s', (_way, openLibrary) => {
  test('the upstream sees one subscription for all, and its updates reach the subscribers only', async () => {
    const library = await openLibrary({ isolation: 'shared' });
    const { url } = await openGateway(library);
    await library.hears(1);
    const [first, second, other] = [await openRaw(url), await openRaw(url), await openRaw(url)];
    await subscribe(first, ONE);
    await subscribe(first, ONE);
    await subscribe(second, ONE);
    await subscribe(other, TWO);
    expect(seen(library)).toEqual([`subscribe ${ONE}`, `subscribe ${TWO}`]);

    expect(await touch(other, ONE)).toBe('touched 1');
    expect([await first.json(), await second.json()]).toEqual([updated(ONE), updated(ONE)]);
    expect([await first.barrier(), await second.barrier(), await other.barrier()]).toEqual([[], [], []]);

    expect(await ask(first, 'unsubscribe', ONE)).toEqual(done('unsubscribe'));
    expect(await ask(first, 'unsubscribe', ONE)).toEqual(done('unsubscribe'));
    expect(await touch(other, ONE)).toBe('touched 1');
    expect(await second.json()).toEqual(updated(ONE));
    expect([await first.barrier(), await second.barrier()]).toEqual([[], []]);

    second.socket.terminate();
    await expect.poll(() => seen(library)).toContain(`unsubscribe ${ONE}`);
    expect(seen(library)).toEqual([`subscribe ${ONE}`, `subscribe ${TWO}`, `unsubscribe ${ONE}`]);
    expect(await touch(first, ONE)).toBe('touched 0');
    expect(await first.barrier()).toEqual([]);
  });
});

describe('a subscription', () => {
  test('is restored when its killed upstream is back, and each subscriber then hears one update', async () => {
    const library = await stdioLibrary({ isolation: 'shared' });
    const { url } = await openGateway(library);
    const [first, second, other] = [await openRaw(url), await openRaw(url), await openRaw(url)];
    await subscribe(first, ONE);
    await subscribe(second, ONE);
    const { result } = (await other.ask(toolCall('pid', 'up__pid'))) as { result: { content: [{ text: string }] } };
    process.kill(Number(result.content[0].text), 'SIGKILL');
    expect([await first.json(), await second.json()]).toEqual([updated(ONE), updated(ONE)]);
    expect([await first.barrier(), await second.barrier(), await other.barrier()]).toEqual([[], [], []]);
    expect(seen(library)).toEqual([`subscribe ${ONE}`, `subscribe ${ONE}`]);
    expect(await touch(other, ONE)).toBe('touched 1');
    expect([await first.json(), await second.json()]).toEqual([updated(ONE), updated(ONE)]);
  });

  test('is restored in a new session when the server has forgotten the old one', async () => {
    const library = await httpLibrary({ isolation: 'shared' });
    const { url } = await openGateway(library);
    await library.hears(1);
    const [first, other] = [await openRaw(url), await openRaw(url)];
    await subscribe(first, ONE);
    library.forget();
    expect(await other.ask(toolCall(1, 'up__echo', { text: 'again' }))).toEqual(textAnswer(1, 'again'));
    expect(await first.json()).toEqual(updated(ONE));
    expect(seen(library)).toEqual([`subscribe ${ONE}`, `subscribe ${ONE}`]);
    expect([await first.barrier(), await other.barrier()]).toEqual([[], []]);
  });

  test('asked for, or ended, when the server has just forgotten the session is not the client’s concern', async () => {
    const library = await httpLibrary({ isolation: 'shared' });
    const { url } = await openGateway(library);
    await library.hears(1);
    const client = await openRaw(url);
    library.forget();
    await subscribe(client, ONE);
    expect(seen(library)).toEqual([`subscribe ${ONE}`]);
    await library.hears(1);
    library.forget();
    expect(await ask(client, 'unsubscribe', ONE)).toEqual(done('unsubscribe'));
  });

  test('whose socket closed while the upstream was being initialised anew is ended there', async () => {
    const library = await httpLibrary({ isolation: 'shared' });
    const gateway = await openGateway(library);
    await library.hears(1);
    const client = await openRaw(gateway.url);
    let letThrough = () => {};
    const initializing = new Promise<void>((seen) => {
      library.intercept((request, response) => {
        if (request.headers['mcp-session-id'] !== undefined) return answered404(request, response);
        seen();
        return new Promise((resolve) => {
          letThrough = () => resolve(false);
        });
      });
    });
    client.send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: ONE } });
    await initializing;
    client.socket.terminate();
    const open = async () => sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_connections');
    await expect.poll(open).toBe(0);
    library.intercept();
    letThrough();
    await expect.poll(() => seen(library)).toEqual([`subscribe ${ONE}`, `unsubscribe ${ONE}`]);
  });

  test('that the upstream refuses fails with the upstream’s error, and takes no room', async () => {
    const library = await stdioLibrary({ isolation: 'shared' });
    const { url } = await openGateway(library, { limits: { subscriptions: 1 } });
    const client = await openRaw(url);
    const refused = errorAnswer('subscribe', -32051, 'closed shelf', { uri: 'lib://shelf/closed' });
    expect(await ask(client, 'subscribe', 'lib://shelf/closed')).toEqual(refused);
    expect(await ask(client, 'subscribe', 'lib://shelf/closed')).toEqual(refused);
    await subscribe(client, ONE);
  });

  test('of two that ask at once for what the upstream refuses fails for both', async () => {
    const library = await stdioLibrary({ isolation: 'shared' });
    const { url } = await openGateway(library);
    const [first, second] = [await openRaw(url), await openRaw(url)];
    const refused = errorAnswer('subscribe', -32051, 'closed shelf', { uri: 'lib://shelf/closed' });
    expect(
      await Promise.all([
        ask(first, 'subscribe', 'lib://shelf/closed'),
        ask(second, 'subscribe', 'lib://shelf/closed'),
      ]),
    ).toEqual([refused, refused]);
  });

  test('over the limit of the session is refused, until one ends', async () => {
    const library = await stdioLibrary({ isolation: 'shared' });
    const { url } = await openGateway(library, { limits: { subscriptions: 2 } });
    const client = await openRaw(url);
    await subscribe(client, ONE);
    await subscribe(client, TWO);
    await subscribe(client, TWO);
    expect(await ask(client, 'subscribe', 'lib://shelf/3')).toEqual(
      errorAnswer('subscribe', -32603, 'The gateway is at capacity', { reason: 'at_capacity', retryable: true }),
    );
    await ask(client, 'unsubscribe', ONE);
    await subscribe(client, 'lib://shelf/3');
  });

  test('to what nobody has is not found, and one without a URI is refused', async () => {
    const library = await stdioLibrary({ isolation: 'shared' }, { templates: [] });
    const { url } = await openGateway({ ...library, entry: { ...library.entry, uris: ['lib://**'] } });
    const client = await openRaw(url);
    expect(await ask(client, 'subscribe', 'other://1')).toEqual(
      errorAnswer('subscribe', -32002, 'Resource not found', { uri: 'other://1' }),
    );
    const params = {};
    expect(await client.ask({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params })).toEqual(
      errorAnswer(1, -32602, 'Invalid params of resources/subscribe'),
    );
    expect(seen(library)).toEqual([]);
  });
});

test('what is updated again and again on a shared link is told once', async () => {
  const library = await stdioLibrary({ isolation: 'shared' });
  const { url } = await openGateway(library, { timing: { listChangeCoalesce: '500ms' } });
  const client = await openRaw(url);
  await subscribe(client, ONE);
  for (const id of [1, 2, 3]) client.send(toolCall(id, 'up__touch', { uri: ONE }));
  const answers = [1, 2, 3].map((id) => textAnswer(id, 'touched 1'));
  expect(await received(client, 4)).toEqual([...answers, updated(ONE)]);
  expect(await client.barrier()).toEqual([]);
});

describe('with a link for each session', () => {
  test('updates reach the session whose link they came on, and its end ends the link', async () => {
    const library = await stdioLibrary({ isolation: 'session' });
    const { url } = await openGateway(library);
    const [first, second] = [await openRaw(url), await openRaw(url)];
    await subscribe(first, ONE);
    await subscribe(second, ONE);
    expect(seen(library)).toEqual([`subscribe ${ONE}`, `subscribe ${ONE}`]);
    first.send(toolCall(1, 'up__touch', { uri: ONE }));
    expect([await first.json(), await first.json()]).toEqual([updated(ONE), textAnswer(1, 'touched 1')]);
    expect([await first.barrier(), await second.barrier()]).toEqual([[], []]);
    expect(await ask(first, 'unsubscribe', ONE)).toEqual(done('unsubscribe'));
    expect(await touch(first, ONE)).toBe('touched 0');
    second.send(toolCall(1, 'up__touch', { uri: ONE }));
    expect([await second.json(), await second.json()]).toEqual([updated(ONE), textAnswer(1, 'touched 1')]);
  });

  test('what is updated again and again is told at once, and once more when the time is over', async () => {
    const library = await stdioLibrary({ isolation: 'session' });
    const { url } = await openGateway(library, { timing: { listChangeCoalesce: '500ms' } });
    const client = await openRaw(url);
    await subscribe(client, ONE);
    for (const id of [1, 2, 3]) client.send(toolCall(id, 'up__touch', { uri: ONE }));
    const answers = [1, 2, 3].map((id) => textAnswer(id, 'touched 1'));
    expect(await received(client, 5)).toEqual([updated(ONE), ...answers, updated(ONE)]);
    expect(await client.barrier()).toEqual([]);
  });

  test('a killed child is replaced without being asked for, and each subscription hears one update', async () => {
    const library = await stdioLibrary({ isolation: 'session' });
    const { url } = await openGateway(library, { timing: { listChangeCoalesce: '0ms' } });
    const client = await openRaw(url);
    await subscribe(client, ONE);
    await subscribe(client, TWO);
    const { result } = (await client.ask(toolCall('pid', 'up__pid'))) as { result: { content: [{ text: string }] } };
    process.kill(Number(result.content[0].text), 'SIGKILL');
    expect([await client.json(), await client.json()]).toEqual([updated(ONE), updated(TWO)]);
    client.send(toolCall(1, 'up__touch', { uri: TWO }));
    expect([await client.next(), await client.json()]).toEqual([updatedText(TWO), textAnswer(1, 'touched 1')]);
    expect(await client.barrier()).toEqual([]);
  });
});

test('asked for and given up in one breath, by unsubscribe or by cancelling, nothing stays at the upstream', async () => {
  const library = await stdioLibrary({ isolation: 'session' });
  const gateway = await startGateway({ mcpServers: { up: library.entry } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  const uri = 'book://a';
  for (const [id, method] of [
    [1, 'resources/subscribe'],
    [2, 'resources/unsubscribe'],
    [3, 'resources/subscribe'],
  ] as const) {
    client.send({ jsonrpc: '2.0', id, method, params: { uri } });
  }
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } });
  expect([await client.json(), await client.json()]).toEqual([
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 2, result: {} },
  ]);
  const asked = () => library.lines().filter((line) => line.includes('subscribe '));
  await expect
    .poll(asked)
    .toEqual([`subscribe ${uri}`, `unsubscribe ${uri}`, `subscribe ${uri}`, `unsubscribe ${uri}`]);
});
