import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { hearHttp, openHttp } from '../support/heard-channel.ts';
import {
  answerJson,
  answerStatus,
  answerText,
  callText,
  type HttpUpstream,
  INITIALIZE,
  INITIALIZE_ANSWER,
  openHttpUpstream,
  politely,
  startEvents,
} from '../support/http-upstream.ts';

let upstream: HttpUpstream;
afterEach(() => upstream.close());

const SECRET_BODY = 'bearer-secret-in-a-body';
const json = (response: ServerResponse, status: number, text: string) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);

const FAILING: ReadonlyArray<[string, (response: ServerResponse) => void, string, string]> = [
  ['401', (r) => json(r, 401, `{"error":"${SECRET_BODY}"}`), 'upstream_unavailable', 'HTTP 401'],
  ['403 without JSON', (r) => r.writeHead(403).end(SECRET_BODY), 'upstream_unavailable', 'HTTP 403'],
  [
    '500',
    (r) => r.writeHead(500, { 'content-type': 'text/html' }).end(SECRET_BODY),
    'upstream_unavailable',
    'HTTP 500',
  ],
  [
    'a redirect',
    (r) => r.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    'upstream_unavailable',
    'HTTP 307, and redirects are not followed',
  ],
  [
    '202 to a request',
    (r) => answerStatus(r, 202),
    'upstream_unavailable',
    'the body is neither JSON nor an event stream',
  ],
  [
    'a page',
    (r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<p>Log in</p>'),
    'upstream_unavailable',
    'the body is neither JSON nor an event stream',
  ],
  [
    'a compressed body',
    (r) => r.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync('{}')),
    'upstream_unavailable',
    'the body is compressed',
  ],
  ['a batch', (r) => answerJson(r, `[${answerText(2)}]`), 'too_large', 'the body is not the answer to the request'],
  [
    'an answer to another id',
    (r) => answerJson(r, answerText(3)),
    'too_large',
    'the body is not the answer to the request',
  ],
  ['a body announced over the limit', (r) => answerJson(r, long(2)), 'too_large', 'the answer is over the limit'],
  [
    'a body over the limit',
    (r) => {
      r.writeHead(200, { 'content-type': 'application/json' }).write(long(2).slice(0, 10));
      r.end(long(2).slice(10));
    },
    'too_large',
    'the answer is over the limit',
  ],
  ['an event over the limit', (r) => startEvents(r, `data: ${long(2)}\n\n`), 'too_large', 'an event is over the limit'],
  [
    'an event over the limit that never ends',
    (r) => startEvents(r, `data: ${'x'.repeat(20_000)}`),
    'too_large',
    'an event is over the limit',
  ],
  ['a cut body', (r) => cutAfter(r, 'application/json', '{"json'), 'upstream_closed', 'the answer was cut off'],
  [
    'a cut stream without event ids',
    (r) => cutAfter(r, 'text/event-stream', 'data: {}\n\n'),
    'upstream_closed',
    'the stream ended before the answer',
  ],
  ['a connection cut before any answer', (r) => r.destroy(), 'upstream_closed', 'socket hang up'],
];

function long(id: number): string {
  return `{"jsonrpc":"2.0","id":${id},"result":{"text":"${'€'.repeat(400)}"}}`;
}

function cutAfter(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type });
  response.write(text, () => response.destroy());
}

describe('one request fails and the channel lives on', () => {
  test.each(FAILING)('%s', async (_name, answer, reason, cause) => {
    upstream = await openHttpUpstream(
      politely(({ body, response }) => {
        if (body.includes('"id":2')) answer(response);
        else answerJson(response, answerText(3));
      }),
    );
    const heard = await openHttp(upstream.url, { maxMessage: 1_000 });
    heard.channel.send(callText(2), 2);
    await expect.poll(() => heard.failures).toEqual([{ id: 2, reason, cause: expect.any(Error) }]);
    expect(heard.failures[0]?.cause.message).toBe(cause);
    heard.channel.send(callText(3), 3);
    await expect.poll(() => heard.messages.at(-1)).toBe(answerText(3));
    expect(heard.closed).toEqual([]);
    await heard.channel.close();
    expect(heard.closed).toEqual([undefined]);
  });
});

test('a 4xx whose body is the JSON-RPC answer is the answer', async () => {
  const error = '{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":2}';
  upstream = await openHttpUpstream(politely(({ response }) => json(response, 400, error)));
  const heard = await openHttp(upstream.url);
  heard.channel.send(callText(2), 2);
  await expect.poll(() => heard.messages.at(-1)).toBe(error);
  expect(heard.failures).toEqual([]);
  await heard.channel.close();
});

test('a refused notification is logged, and later calls go on', async () => {
  upstream = await openHttpUpstream(({ body, response }) => {
    if (body.includes('"initialize"')) answerJson(response, INITIALIZE_ANSWER);
    else if (body.includes('tools/call')) answerJson(response, answerText(2));
    else answerStatus(response, 400);
  });
  const heard = await openHttp(upstream.url);
  heard.channel.send(callText(2), 2);
  await expect.poll(() => heard.messages.at(-1)).toBe(answerText(2));
  expect(heard.lines.map(({ event }) => event)).toContain('upstream_notice_refused');
  await heard.channel.close();
});

test.each([
  ['an HTTP failure', (r: ServerResponse) => answerStatus(r, 503), 'HTTP 503'],
  [
    'a session id that is no header value',
    (r: ServerResponse) => answerJson(r, INITIALIZE_ANSWER, { 'mcp-session-id': 'a b' }),
    'the session id cannot stand in a header',
  ],
])('initialize answered with %s closes the channel', async (_name, answer, cause) => {
  upstream = await openHttpUpstream(({ response }) => answer(response));
  const heard = await hearHttp(upstream.url);
  heard.channel.send(INITIALIZE, 1);
  heard.channel.send(callText(2), 2);
  await expect
    .poll(() => heard.order)
    .toEqual(['failed 1 upstream_unavailable', 'failed 2 upstream_unavailable', 'closed']);
  expect(heard.closed[0]?.message).toBe(cause);
  expect(heard.channel.send(callText(3), 3)).toBe(false);
});

test('a server that is gone fails what is in flight and closes the channel, once', async () => {
  upstream = await openHttpUpstream(politely(() => {}));
  const heard = await openHttp(upstream.url);
  heard.channel.send(callText(2), 2);
  await expect.poll(() => upstream.exchanges.filter(({ body }) => body.includes('tools/call')).length).toBe(1);
  await upstream.close();
  await expect.poll(() => heard.order.slice(1)).toEqual(['failed 2 upstream_closed']);
  heard.channel.send(callText(3), 3);
  await expect.poll(() => heard.order.slice(2)).toEqual(['failed 3 upstream_unavailable', 'closed']);
  expect(heard.closed[0]).toMatchObject({ code: 'ECONNREFUSED' });
  await heard.channel.close();
  expect(heard.closed).toHaveLength(1);
});

test('an aborted dial opens nothing', async () => {
  upstream = await openHttpUpstream(politely(() => {}));
  const { dialStreamableHttp } = await import('../../src/upstream/streamable-http.ts');
  const { systemClock } = await import('../../src/observe/clock.ts');
  const { recordedLog } = await import('../support/recorded.ts');
  const deps = { log: recordedLog(), clock: systemClock(), upstream: 'up' };
  const dial = dialStreamableHttp({ url: upstream.url, headers: {}, maxMessage: 1 }, deps);
  const receiver = { message: () => {}, failed: () => {}, closed: () => {} };
  await expect(dial(receiver, AbortSignal.abort(new Error('no longer wanted')))).rejects.toThrow('no longer wanted');
});
