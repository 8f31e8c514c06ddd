import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { answerJson, answerStatus, type Exchange, openHttpUpstream } from '../support/http-upstream.ts';
import { type HttpLibrary, httpLibrary } from '../support/library.ts';
import { cancellation, errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

const failed = (id: number, reason: 'upstream_closed' | 'upstream_unavailable', more: object = {}) =>
  errorAnswer(
    id,
    -32603,
    reason === 'upstream_closed' ? 'The upstream went away during the call' : 'The upstream cannot be reached',
    { reason, retryable: true, ...more },
  );
const sessions = (library: HttpLibrary) => library.lines().filter((line) => line === 'session').length;
const waiting = async (library: HttpLibrary, count: number) => {
  const ids = () => library.lines().flatMap((line) => /^waiting (\d+)$/.exec(line)?.[1] ?? []);
  await expect.poll(() => ids().length).toBe(count);
  return ids();
};

async function open(isolation: 'session' | 'shared', more: object = {}) {
  const library = await httpLibrary({ isolation, ...more });
  const gateway = await startGateway({ mcpServers: { up: library.entry } });
  await gateway.ready();
  await library.hears(1);
  return { library, gateway, url: gateway.url };
}

test('each session has a session of its own there, which it gives back, or all share one', async () => {
  const own = await open('session');
  const [first, second] = [await openRaw(own.url), await openRaw(own.url)];
  expect(sessions(own.library)).toBe(1);
  for (const [at, client] of [first, second].entries()) {
    expect(await client.ask(toolCall(1, 'up__echo', { text: 'hello' }))).toEqual(textAnswer(1, 'hello'));
    expect(sessions(own.library)).toBe(2 + at);
  }
  await own.library.hears(3);
  first.socket.terminate();
  await own.library.hears(2);
  expect(await second.ask(toolCall(2, 'up__echo', { text: 'still' }))).toEqual(textAnswer(2, 'still'));

  const shared = await open('shared');
  for (const client of [await openRaw(shared.url), await openRaw(shared.url)]) {
    expect(await client.ask(toolCall(1, 'up__echo', { text: 'hello' }))).toEqual(textAnswer(1, 'hello'));
  }
  expect(sessions(shared.library)).toBe(1);
});

describe.each(['session', 'shared'] as const)('with isolation %s', (isolation) => {
  test('a server that has forgotten its sessions is initialised once for all waiting calls, which succeed', async () => {
    const { library, url } = await open(isolation);
    const client = await openRaw(url);
    expect(await client.ask(toolCall(1, 'up__echo', { text: '1' }))).toEqual(textAnswer(1, '1'));
    for (const round of [10, 20]) {
      const before = sessions(library);
      library.forget();
      const ids = [round, round + 1, round + 2];
      for (const id of ids) client.send(toolCall(id, 'up__echo', { text: String(id) }));
      const answers = [await client.json(), await client.json(), await client.json()];
      expect(answers).toEqual(expect.arrayContaining(ids.map((id) => textAnswer(id, String(id)))));
      expect(sessions(library)).toBe(before + 1);
    }
    expect(await client.barrier()).toEqual([]);
  });

  test('a server that is gone fails calls, in flight and new, and serves again once it is back', async () => {
    const { library, url } = await open(isolation);
    const client = await openRaw(url);
    client.send(toolCall(1, 'up__wait'));
    await waiting(library, 1);
    await library.stop();
    expect(await client.json()).toEqual(failed(1, 'upstream_closed'));
    expect(await client.ask(toolCall(2, 'up__echo'))).toMatchObject(failed(2, 'upstream_unavailable'));
    expect(await client.ask(toolCall(3, 'up__echo'))).toEqual(
      failed(3, 'upstream_unavailable', { retryAfterMs: expect.any(Number) }),
    );
    await library.start();
    await expect
      .poll(() => client.ask(toolCall(4, 'up__echo', { text: 'back' })), { timeout: 5000 })
      .toEqual(textAnswer(4, 'back'));
  });

  test('a status that is a failure, and an answer that is cut, fail their own call alone', async () => {
    const { library, url } = await open(isolation);
    const [client, other] = [await openRaw(url), await openRaw(url)];
    expect(await client.ask(toolCall(1, 'up__echo', { text: 'before' }))).toEqual(textAnswer(1, 'before'));
    library.intercept(refusePosts);
    expect(await client.ask(toolCall(2, 'up__echo'))).toEqual(failed(2, 'upstream_unavailable'));
    library.intercept();
    client.send(toolCall(3, 'up__wait'));
    await waiting(library, 1);
    library.cutCalls();
    expect(await client.json()).toEqual(failed(3, 'upstream_closed'));
    expect(await client.ask(toolCall(4, 'up__echo', { text: 'after' }))).toEqual(textAnswer(4, 'after'));
    expect(await other.ask(toolCall(5, 'up__echo', { text: 'too' }))).toEqual(textAnswer(5, 'too'));
  });

  test('a cancellation reaches the server under its own id, and nothing else is said of the call', async () => {
    const { library, url } = await open(isolation);
    const client = await openRaw(url);
    client.send(toolCall(101, 'up__wait'));
    const [id] = await waiting(library, 1);
    expect(id).not.toBe('101');
    client.send(cancellation(101));
    await expect.poll(() => library.lines()).toContain(`cancelled ${id}`);
    expect(await client.ask(toolCall(101, 'up__echo', { text: 'again' }))).toEqual(textAnswer(101, 'again'));
    expect(await client.barrier()).toEqual([]);
  });
});

async function refusePosts(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (request.method !== 'POST') return false;
  request.resume();
  response.writeHead(500).end('a stack that stays here');
  return true;
}

test('9223372036854775807 and vendor fields are the same bytes there and back, in JSON and in events', async () => {
  const definition =
    '{"name":"echo","inputSchema":{"type":"object","maximum":9223372036854775807},"vendor":{"n":1e400}}';
  const result = '{"content":[],"structuredContent":{"n":9223372036854775807},"vendor":0.1000}';
  const calls: string[] = [];
  const upstream = await openHttpUpstream(serveExactly(definition, result, calls));
  onTestFinished(() => upstream.close());
  const gateway = await startGateway({ mcpServers: { up: { url: upstream.url, isolation: 'shared' } } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  client.send('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  expect(await client.next()).toBe(
    `{"jsonrpc":"2.0","id":1,"result":{"tools":[${definition.replace('"echo"', '"up__echo"')}]}}`,
  );
  for (const id of [2, 3]) {
    client.send(
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"up__echo","arguments":{"n":9223372036854775807,"f":1.50}}}`,
    );
    expect(await client.next()).toBe(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
    expect(calls.at(-1)).toMatch(/"params":\{"name":"echo","arguments":\{"n":9223372036854775807,"f":1\.50\}\}\}$/);
  }
});

/** Answers calls with this text, by turns as events and as JSON. */
function serveExactly(definition: string, result: string, calls: string[]): (exchange: Exchange) => void {
  return ({ method, body, response }) => {
    if (method !== 'POST') return answerStatus(response, method === 'GET' ? 405 : 200);
    const id = /"id":(\d+)/.exec(body)?.[1];
    if (id === undefined) return answerStatus(response, 202);
    const answer = (text: string) => `{"jsonrpc":"2.0","id":${id},"result":${text}}`;
    if (body.includes('"initialize"')) {
      const serverInfo = '{"name":"exact","version":"1"}';
      const opened = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":${serverInfo}}`;
      return answerJson(response, answer(opened));
    }
    if (body.includes('"tools/list"')) return answerJson(response, answer(`{"tools":[${definition}]}`));
    calls.push(body);
    if (calls.length % 2 === 0) return answerJson(response, answer(result));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${answer(result)}\n\n`);
  };
}
