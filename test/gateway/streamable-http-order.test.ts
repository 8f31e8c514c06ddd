import { get, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { Channel } from '../../src/ports/transport.ts';
import { hearHttp, openHttp, watchedClock } from '../support/heard-channel.ts';
import {
  answerJson,
  answerStatus,
  answerText,
  callText,
  endEvents,
  type HttpUpstream,
  INITIALIZE,
  INITIALIZE_ANSWER,
  INITIALIZED,
  openHttpUpstream,
  politely,
  startEvents,
} from '../support/http-upstream.ts';

let upstream: HttpUpstream;
afterEach(() => upstream.close());

const CANCELLED = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}';
const bodies = () => upstream.exchanges.map(({ body }) => body).filter((body) => body !== '');

test('nothing overtakes initialize or notifications/initialized', async () => {
  const held: ServerResponse[] = [];
  upstream = await openHttpUpstream(({ response }) => held.push(response));
  const heard = await hearHttp(upstream.url);
  heard.channel.send(INITIALIZE, 1);
  heard.channel.send(INITIALIZED);
  heard.channel.send(callText(2), 2);
  heard.channel.send(callText(3), 3);
  await expect.poll(bodies).toEqual([INITIALIZE]);
  answerJson(held[0] as ServerResponse, INITIALIZE_ANSWER);
  await expect.poll(bodies).toEqual([INITIALIZE, INITIALIZED]);
  answerStatus(held[1] as ServerResponse, 202);
  await expect.poll(() => bodies().slice(2).sort()).toEqual([callText(2), callText(3)]);
  await heard.channel.close();
});

test('a server that never takes notifications/initialized is not waited for for ever', async () => {
  const clock = watchedClock();
  upstream = await openHttpUpstream(({ body, response }) => {
    if (body === INITIALIZE) answerJson(response, INITIALIZE_ANSWER);
    if (body === callText(2)) answerJson(response, answerText(2));
  });
  const heard = await openHttp(upstream.url, {}, clock);
  heard.channel.send(callText(2), 2);
  await expect.poll(bodies).toEqual([INITIALIZE, INITIALIZED]);
  clock.advance(30_000);
  await expect.poll(() => heard.messages.at(-1)).toBe(answerText(2));
  const closed = heard.channel.close();
  clock.advance(1_500);
  await closed;
});

test('a stalled call delays neither another nor its cancellation, and a forgotten one holds no connection', async () => {
  upstream = await openHttpUpstream(
    politely(({ body, response }) => {
      if (body === callText(2)) startEvents(response, ': here\n\n');
      else answerJson(response, answerText(3));
    }),
  );
  const heard = await openHttp(upstream.url);
  heard.channel.send(callText(2), 2);
  heard.channel.send(callText(3), 3);
  await expect.poll(() => heard.messages.at(-1)).toBe(answerText(3));
  heard.channel.send(CANCELLED);
  heard.channel.forget?.(2);
  await expect.poll(() => bodies().at(-1)).toBe(CANCELLED);
  const stalled = upstream.exchanges.find(({ body }) => body === callText(2));
  await expect.poll(() => stalled?.response.destroyed).toBe(true);
  expect(heard.failures).toEqual([]);
  await heard.channel.close();
});

test('what comes for a call is told in the order of its stream, the answer last', async () => {
  const notes = [1, 2, 3].map(
    (n) => `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":${n},"id":2}}`,
  );
  const all = [...notes, '{"method":"ping","jsonrpc":"2.0","id":2}', answerText(2)];
  upstream = await openHttpUpstream(
    politely(({ response }) => {
      startEvents(response);
      response.end(all.map((text) => `event: message\ndata: ${text}\n\n`).join(''));
    }),
  );
  const heard = await openHttp(upstream.url);
  heard.channel.send(callText(2), 2);
  await expect.poll(() => heard.order.slice(1)).toEqual(all);
  await heard.channel.close();
  expect(heard.order.slice(1)).toEqual([...all, 'closed']);
});

test('a paused channel tells nothing, also not what one chunk carried, and goes on in order', async () => {
  const events = [1, 2, 3, 4].map((n) => `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":${n}}}`);
  upstream = await openHttpUpstream(
    politely(({ body, response }) => {
      if (body === callText(3)) answerJson(response, answerText(3));
      else startEvents(response, events.map((text) => `data: ${text}\n\n`).join(''));
    }),
  );
  const heard = await openHttp(upstream.url);
  const told = heard.messages.push.bind(heard.messages);
  heard.messages.push = (text) => {
    if (text === events[1]) heard.channel.pause();
    return told(text);
  };
  heard.channel.send(callText(2), 2);
  await expect.poll(() => heard.messages.slice(1)).toEqual(events.slice(0, 2));
  heard.channel.send(callText(3), 3);
  const answered = () => upstream.exchanges.find(({ body }) => body === callText(3))?.response.writableFinished;
  await expect.poll(answered).toBe(true);
  expect(heard.messages).toHaveLength(3);
  heard.channel.resume();
  await expect.poll(() => heard.messages.slice(1)).toEqual([...events, answerText(3)]);
  await heard.channel.close();
});

test.each(['before', 'after'])('a channel paused %s the answer began lets the server wait', async (when) => {
  const big = `{"jsonrpc":"2.0","id":2,"result":"${'x'.repeat(16_000_000)}"}`;
  upstream = await openHttpUpstream(politely(({ response }) => startEvents(response)));
  const heard = await openHttp(upstream.url, { maxMessage: 32_000_000 });
  const pauses = { before: [true, false], after: [false, true] }[when] ?? [];
  pause(heard.channel, pauses[0]);
  heard.channel.send(callText(2), 2);
  await expect.poll(() => bodies().at(-1)).toBe(callText(2));
  const response = upstream.exchanges.find(({ body }) => body === callText(2))?.response;
  pause(heard.channel, pauses[1]);
  let drained = false;
  response?.write(`data: ${big}\n\n`, () => {
    drained = true;
  });
  for (let n = 5; n < 15; n += 1) {
    heard.channel.send(CANCELLED);
    await expect.poll(() => bodies().length).toBe(n - 1);
  }
  expect(drained).toBe(false);
  heard.channel.resume();
  await expect.poll(() => heard.messages.at(-1)?.length).toBe(big.length);
  expect(drained).toBe(true);
  await heard.channel.close();
});

/** A request of its own, answered after all that reached the server before it. */
function roundTrip(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => answer.resume().on('close', resolve)).on('error', reject);
  });
}

function pause(channel: Channel, wanted: boolean | undefined): void {
  if (wanted) channel.pause();
}

test('a call forgotten on one of its messages tells no more of the same chunk', async () => {
  const notes = [1, 2].map((n) => `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":${n}}}`);
  upstream = await openHttpUpstream(
    politely(({ body, response }) => {
      if (body === callText(2)) endEvents(response, notes.map((text) => `data: ${text}\n\n`).join(''));
      else answerJson(response, answerText(3));
    }),
  );
  const heard = await openHttp(upstream.url);
  const told = heard.messages.push.bind(heard.messages);
  heard.messages.push = (text) => {
    if (text === notes[0]) heard.channel.forget?.(2);
    return told(text);
  };
  heard.channel.send(callText(2), 2);
  await expect.poll(() => heard.messages.length).toBe(2);
  heard.channel.send(callText(3), 3);
  await expect.poll(() => heard.messages.slice(1)).toEqual([notes[0], answerText(3)]);
  expect(heard.failures).toEqual([]);
  await heard.channel.close();
});

test('a stream left open after its answer is let go after a while', async () => {
  const clock = watchedClock();
  upstream = await openHttpUpstream(politely(({ response }) => startEvents(response, `data: ${answerText(2)}\n\n`)));
  const heard = await openHttp(upstream.url, {}, clock);
  heard.channel.send(callText(2), 2);
  await expect.poll(() => heard.messages.at(-1)).toBe(answerText(2));
  const stream = upstream.exchanges.find(({ body }) => body === callText(2))?.response;
  expect(stream?.destroyed).toBe(false);
  clock.advance(5_000);
  await expect.poll(() => stream?.destroyed).toBe(true);
  expect(heard.failures).toEqual([]);
  await heard.channel.close();
});

test('close sends what was sent before it, gives the session back, and leaves nothing behind', async () => {
  const clock = watchedClock();
  const cancelled: ServerResponse[] = [];
  const polite = politely(({ body, response }) => {
    if (body === callText(4)) endEvents(response, `data: ${answerText(4)}\n\n`);
  });
  upstream = await openHttpUpstream((exchange) => {
    if (exchange.body === CANCELLED) cancelled.push(exchange.response);
    else polite(exchange);
  });
  const heard = await openHttp(upstream.url, {}, clock);
  for (const id of [2, 3, 4]) heard.channel.send(callText(id), id);
  await expect.poll(() => [bodies().length, heard.messages.length]).toEqual([5, 2]);
  heard.channel.send(CANCELLED);
  const closing = heard.channel.close();
  await expect.poll(() => cancelled.length).toBe(1);
  await roundTrip(upstream.url);
  expect(upstream.exchanges.map(({ method }) => method)).not.toContain('DELETE');
  answerStatus(cancelled[0] as ServerResponse, 202);
  await closing;
  expect(upstream.exchanges.at(-1)?.method).toBe('DELETE');
  expect(heard.order.slice(1)).toEqual([answerText(4), 'closed']);
  expect(heard.channel.send(callText(5), 5)).toBe(false);
  await expect.poll(() => upstream.connections()).toBe(0);
  expect(clock.waits()).toEqual([]);
});

test('close does not wait longer than its bound for a server that says nothing', async () => {
  const clock = watchedClock();
  upstream = await openHttpUpstream(({ body, response }) => {
    if (body === INITIALIZE) answerJson(response, INITIALIZE_ANSWER, { 'mcp-session-id': 's' });
    if (body === INITIALIZED) answerStatus(response, 202);
  });
  const heard = await openHttp(upstream.url, {}, clock);
  const closing = heard.channel.close();
  await expect.poll(() => upstream.exchanges.at(-1)?.method).toBe('DELETE');
  clock.advance(1_500);
  await closing;
  await expect.poll(() => upstream.connections()).toBe(0);
  expect(clock.waits()).toEqual([]);
});
