import { afterEach, expect, test } from 'vitest';
import { openHttp, watchedClock } from '../support/heard-channel.ts';
import {
  answerStatus,
  answerText,
  callText,
  type Exchange,
  type HttpUpstream,
  openHttpUpstream,
  politely,
  startEvents,
} from '../support/http-upstream.ts';

let upstream: HttpUpstream;
afterEach(() => upstream.close());

const call = (id: number): Exchange | undefined => upstream.exchanges.find(({ body }) => body === callText(id));

/** Calls 2, 3 and 4 under way: 4 has an open stream, the others have heard nothing. */
async function threeCalls() {
  upstream = await openHttpUpstream(
    politely(({ body, response }) => {
      if (body === callText(4)) startEvents(response, ': open\n\n');
    }),
  );
  const clock = watchedClock();
  const heard = await openHttp(upstream.url, {}, clock);
  for (const id of [2, 3, 4]) heard.channel.send(callText(id), id);
  await expect.poll(() => [call(2), call(3), call(4)].includes(undefined)).toBe(false);
  return { heard, clock };
}

function answer404(id: number): void {
  const exchange = call(id);
  if (exchange === undefined) throw new Error(`call ${id} has not come`);
  answerStatus(exchange.response, 404);
}

test('a lost session: every call answered 404 may be sent again, the one under way may not, then the channel closes once', async () => {
  const { heard } = await threeCalls();
  answer404(2);
  await expect.poll(() => heard.failures).toMatchObject([{ id: 2, reason: 'upstream_unavailable', sessionGone: true }]);
  answer404(3);
  await expect
    .poll(() => heard.order.slice(1))
    .toEqual(['failed 2 upstream_unavailable', 'failed 3 upstream_unavailable', 'failed 4 upstream_closed', 'closed']);
  expect(heard.failures.map(({ id, sessionGone }) => [id, sessionGone])).toEqual([
    [2, true],
    [3, true],
    [4, undefined],
  ]);
  expect(heard.closed[0]).toBeInstanceOf(Error);
  await heard.channel.close();
  expect(upstream.exchanges.map(({ method }) => method)).not.toContain('DELETE');
});

test('a call sent into a lost session is not sent, and says so', async () => {
  const { heard } = await threeCalls();
  answer404(2);
  await expect.poll(() => heard.failures.length).toBe(1);
  expect(heard.channel.send(callText(5), 5)).toBe(true);
  expect(heard.channel.send('{"jsonrpc":"2.0","method":"notifications/cancelled"}')).toBe(false);
  await expect
    .poll(() => heard.failures.at(-1))
    .toMatchObject({ id: 5, reason: 'upstream_unavailable', sessionGone: true });
  answer404(3);
  await expect.poll(() => heard.closed.length).toBe(1);
  expect(call(5)).toBeUndefined();
});

test('a lost session is not given back when the owner closes first', async () => {
  const { heard } = await threeCalls();
  answer404(2);
  await expect.poll(() => heard.failures.length).toBe(1);
  await heard.channel.close();
  expect(heard.order.slice(2)).toEqual(['closed']);
  expect(upstream.exchanges.map(({ method }) => method)).not.toContain('DELETE');
});

test('a server that says nothing about the other calls is waited for a second', async () => {
  const { heard, clock } = await threeCalls();
  answer404(2);
  await expect.poll(() => heard.failures.length).toBe(1);
  expect(clock.waits()).toContain(1_000);
  clock.advance(1_000);
  expect(heard.order.slice(2)).toEqual(['failed 3 upstream_closed', 'failed 4 upstream_closed', 'closed']);
  expect(clock.waits()).toEqual([]);
});

test('a notification answered 404 tells of a lost session too', async () => {
  upstream = await openHttpUpstream((exchange) => {
    if (exchange.body.includes('list_changed')) answerStatus(exchange.response, 404);
    else politely(({ response }) => startEvents(response, `data: ${answerText(2)}\n\n`))(exchange);
  });
  const heard = await openHttp(upstream.url);
  heard.channel.send('{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}');
  await expect.poll(() => heard.order.slice(1)).toEqual(['closed']);
});
