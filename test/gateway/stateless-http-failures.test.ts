import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/observe/clock.ts';
import { dialStreamableHttp } from '../../src/upstream/streamable-http.ts';
import { hearModern } from '../support/heard-modern.ts';
import {
  answerJson,
  answerStatus,
  answerText,
  type Exchange,
  endEvents,
  type HttpUpstream,
  openHttpUpstream,
  startEvents,
} from '../support/http-upstream.ts';
import { modernRequest } from '../support/modern-request.ts';
import { recordedLog } from '../support/recorded.ts';

let upstream: HttpUpstream;
afterEach(() => upstream.close());

const call = (id: number) => modernRequest(id, 'tools/call', { name: 'echo' });
const json = (response: ServerResponse, status: number, text: string) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
const error = (id: number | null, code: number) =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":"no"}}`;
const LONG = `{"jsonrpc":"2.0","id":2,"result":{"text":"${'€'.repeat(400)}"}}`;

const FAILING: ReadonlyArray<[string, (response: ServerResponse) => void, string, string]> = [
  ['401', (r) => json(r, 401, '{"error":"secret"}'), 'upstream_unavailable', 'HTTP 401'],
  ['404 of another service', (r) => answerStatus(r, 404), 'upstream_unavailable', 'HTTP 404'],
  ['400 of an earlier revision', (r) => json(r, 400, error(null, -32000)), 'upstream_unavailable', 'HTTP 400'],
  ['400 that answers another id', (r) => json(r, 400, error(3, -32022)), 'upstream_unavailable', 'HTTP 400'],
  [
    'a redirect',
    (r) => r.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    'upstream_unavailable',
    'HTTP 307, and redirects are not followed',
  ],
  ['an over-long answer', (r) => answerJson(r, LONG), 'too_large', 'the answer is over the limit'],
  ['an over-long event', (r) => startEvents(r, `data: ${LONG}\n\n`), 'too_large', 'an event is over the limit'],
  ['a cut body', (r) => cutAfter(r, 'application/json', '{"json'), 'upstream_closed', 'the answer was cut off'],
  [
    'a cut stream',
    (r) => cutAfter(r, 'text/event-stream', `id: 1\ndata: {}\n\n`),
    'upstream_closed',
    'the stream ended before the answer',
  ],
  [
    'a stream that ends to be polled',
    (r) => endEvents(r, 'id: 1\nretry: 10\ndata:\n\n'),
    'upstream_closed',
    'the stream ended before the answer',
  ],
];

function cutAfter(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type });
  response.write(text, () => response.destroy());
}

async function openWith(handle: (exchange: Exchange) => void) {
  upstream = await openHttpUpstream(handle);
  return hearModern(upstream.url, { maxMessage: 1_000 });
}

describe('one request fails, nothing is resumed, and the channel lives on', () => {
  test.each(FAILING)('%s', async (_name, answer, reason, cause) => {
    const heard = await openWith(({ body, response }) => {
      if (body.includes('"id":2')) answer(response);
      else answerJson(response, answerText(3));
    });
    heard.channel.send(...call(2));
    await expect.poll(() => heard.failures).toEqual([{ id: 2, reason, cause: new Error(cause) }]);
    heard.channel.send(...call(3));
    await expect.poll(() => heard.messages.at(-1)).toBe(answerText(3));
    expect(upstream.exchanges.map(({ method }) => method)).toEqual(['POST', 'POST']);
    expect(heard.closed).toEqual([]);
    await heard.channel.close();
    expect(heard.closed).toEqual([undefined]);
  });
});

test.each([
  [400, -32022],
  [400, -32020],
  [404, -32601],
])('a %i whose body is the error %i for this id is the answer', async (status, code) => {
  const heard = await openWith(({ response }) => json(response, status, error(2, code)));
  heard.channel.send(...call(2));
  await expect.poll(() => heard.messages).toEqual([error(2, code)]);
  expect(heard.failures).toEqual([]);
  await heard.channel.close();
});

test('a session id that a server gives all the same is not used', async () => {
  const heard = await openWith(({ body, response }) => {
    const id = body.includes('"id":2') ? 2 : 3;
    answerJson(response, answerText(id), { 'mcp-session-id': 's-1' });
  });
  for (const id of [2, 3]) {
    heard.channel.send(...call(id));
    await expect.poll(() => heard.messages.at(-1)).toBe(answerText(id));
  }
  await heard.channel.close();
  expect(upstream.exchanges.map(({ headers }) => headers['mcp-session-id'])).toEqual([undefined, undefined]);
});

test('what has no id is taken and not posted; a lost one is logged', async () => {
  const heard = await openWith(({ response }) => answerJson(response, answerText(2)));
  expect(heard.channel.send('{"jsonrpc":"2.0","method":"vendor/note"}')).toBe(true);
  expect(heard.channel.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}')).toBe(
    true,
  );
  heard.channel.send(...call(2));
  await expect.poll(() => heard.messages).toEqual([answerText(2)]);
  expect(upstream.exchanges).toHaveLength(1);
  expect(heard.lines.map(({ event }) => event)).toEqual(['upstream_notice_dropped']);
  await heard.channel.close();
});

test('a server that is gone fails what is in flight and closes the channel, once', async () => {
  const heard = await openWith(({ response }) => startEvents(response, 'data: {}\n\n'));
  heard.channel.send(...call(2));
  await expect.poll(() => heard.messages).toEqual(['{}']);
  const { url } = upstream;
  await upstream.close();
  await expect.poll(() => heard.order.slice(1)).toEqual(['failed 2 upstream_closed']);
  const late = await hearModern(url);
  for (const channel of [heard.channel, late.channel]) channel.send(...call(3));
  await expect.poll(() => heard.order.slice(2)).toEqual(['failed 3 upstream_unavailable', 'closed']);
  await expect.poll(() => late.order).toEqual(['failed 3 upstream_unavailable', 'closed']);
  expect(heard.closed[0]).toMatchObject({ code: 'ECONNREFUSED' });
  await heard.channel.close();
  expect(heard.closed).toHaveLength(1);
  expect(heard.channel.send(...call(4))).toBe(false);
});

test('no new connection fails what is still in flight on another', async () => {
  const http = createServer((_request, response) => startEvents(response, 'data: {}\n\n'));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const heard = await hearModern(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`);
  heard.channel.send(...call(2));
  await expect.poll(() => heard.messages).toEqual(['{}']);
  const closed = once(http, 'close');
  http.close();
  heard.channel.send(...call(3));
  await expect
    .poll(() => heard.order.slice(1))
    .toEqual(['failed 3 upstream_unavailable', 'failed 2 upstream_closed', 'closed']);
  await closed;
});

test('closing leaves no connection behind, idle ones included', async () => {
  const heard = await openWith(({ response }) => answerJson(response, answerText(2)));
  heard.channel.send(...call(2));
  await expect.poll(() => heard.messages).toEqual([answerText(2)]);
  expect(await upstream.connections()).toBe(1);
  await heard.channel.close();
  await expect.poll(() => upstream.connections()).toBe(0);
});

test('an aborted dial opens nothing; a header that cannot be sent refuses it', async () => {
  const heard = await openWith(() => {});
  await heard.channel.close();
  const deps = { log: recordedLog(), clock: systemClock(), upstream: 'up' };
  const dial = dialStreamableHttp({ url: upstream.url, headers: {}, maxMessage: 1 }, deps);
  const receiver = { message: () => {}, failed: () => {}, closed: () => {} };
  const given = dial(receiver, AbortSignal.abort(new Error('no longer wanted')), 'modern');
  await expect(given).rejects.toThrow('no longer wanted');
  await expect(hearModern(upstream.url, { headers: { authorization: 'a\nb' } })).rejects.toThrow(/authorization/);
  expect(await upstream.connections()).toBe(0);
});
