import { afterEach, describe, expect, test } from 'vitest';
import { FAR_LIMITS, openHttp, passReconnectWait, watchedClock } from '../support/heard-channel.ts';
import {
  answerJson,
  answerStatus,
  answerText,
  callText,
  type Exchange,
  endEvents,
  type HttpUpstream,
  INITIALIZE_ANSWER,
  openHttpUpstream,
  politely,
  startEvents,
} from '../support/http-upstream.ts';

let upstream: HttpUpstream;
afterEach(() => upstream.close());

const NOTE = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const gets = () => upstream.exchanges.filter(({ method }) => method === 'GET');
const lastIds = () => gets().map(({ headers }) => headers['last-event-id']);

/** A polite server that answers its nth GET with the nth of these, and every later one with the last. */
async function listening(...onGet: Array<(exchange: Exchange) => void>) {
  const polite = politely(({ response }) => answerJson(response, answerText(2)));
  let asked = 0;
  upstream = await openHttpUpstream((exchange) => {
    if (exchange.method === 'GET') onGet[Math.min(asked++, onGet.length - 1)]?.(exchange);
    else polite(exchange);
  });
  const clock = watchedClock();
  const heard = await openHttp(upstream.url, { maxMessage: 1_000, timing: FAR_LIMITS }, clock);
  const passWait = () => passReconnectWait(clock);
  return { heard, clock, passWait };
}

describe('the stream a server speaks on unasked', () => {
  test('is reopened from its last event for as long as the channel lives', async () => {
    const { heard, passWait } = await listening(
      ({ response }) => startEvents(response, `id: e1\ndata: ${NOTE}\n\n`),
      ({ response }) => startEvents(response, `id: e2\ndata: ${NOTE}\n\n`),
    );
    await expect.poll(() => heard.messages.slice(1)).toEqual([NOTE]);
    gets()[0]?.response.destroy();
    const wait = await passWait();
    expect(wait).toBeGreaterThanOrEqual(500);
    expect(wait).toBeLessThanOrEqual(750);
    await expect.poll(() => heard.messages.slice(1)).toEqual([NOTE, NOTE]);
    expect(lastIds()).toEqual([undefined, 'e1']);
    await heard.channel.close();
    await expect.poll(() => upstream.connections()).toBe(0);
  });

  test('is asked for ever less often while it fails, up to half a minute', async () => {
    const { heard, passWait } = await listening(({ response }) => answerStatus(response, 503));
    const waits: number[] = [];
    for (let n = 0; n < 8; n += 1) waits.push(await passWait());
    const floors = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000];
    expect(waits.map((wait, n) => wait >= (floors[n] ?? 0) && wait <= (floors[n] ?? 0) * 1.5)).toEqual(
      Array(8).fill(true),
    );
    await heard.channel.close();
  });

  test.each([405, 404, 401])('is not asked for again after %i', async (status) => {
    const { heard, clock } = await listening(({ response }) => answerStatus(response, status));
    await expect.poll(() => heard.lines.map(({ event }) => event)).toEqual(['upstream_without_stream']);
    expect(clock.waits().filter((ms) => ms < 1e9)).toEqual([]);
    heard.channel.send(callText(2), 2);
    await expect.poll(() => heard.messages.at(-1)).toBe(answerText(2));
    await heard.channel.close();
  });

  test('answered 404 after it was there: the session is lost', async () => {
    const { heard, passWait } = await listening(
      ({ response }) => startEvents(response, `data: ${NOTE}\n\n`),
      ({ response }) => answerStatus(response, 404),
    );
    await expect.poll(() => heard.messages.length).toBe(2);
    gets()[0]?.response.end();
    await passWait();
    await expect.poll(() => heard.order.slice(2)).toEqual(['closed']);
    expect(upstream.exchanges.map(({ method }) => method)).not.toContain('DELETE');
  });

  test('starts afresh when its server no longer knows the last event, or that event is over the limit', async () => {
    const { heard, passWait } = await listening(
      ({ response }) => startEvents(response, `id: e1\ndata: ${NOTE}\n\nid: e2\ndata: ${'x'.repeat(2_000)}\n\n`),
      ({ response }) => startEvents(response),
    );
    await passWait();
    await expect.poll(lastIds).toEqual([undefined, undefined]);
    expect(heard.lines.map(({ event }) => event)).toEqual(['upstream_events_lost']);
    await heard.channel.close();
  });
});

describe('a call whose stream ends before its answer', () => {
  /** Answers the POST of call 2 with these events and ends the stream; the nth GET goes to the nth handler. */
  async function cut(events: string, ...onGet: Array<(exchange: Exchange) => void>) {
    let asked = 0;
    upstream = await openHttpUpstream((exchange) => {
      const resuming = exchange.headers['last-event-id'] !== undefined;
      if (resuming) onGet[Math.min(asked++, onGet.length - 1)]?.(exchange);
      else politely(({ response }) => endEvents(response, events))(exchange);
    });
    const clock = watchedClock();
    const heard = await openHttp(upstream.url, { timing: FAR_LIMITS }, clock);
    heard.channel.send(callText(2), 2);
    const passWait = () => passReconnectWait(clock);
    return { heard, clock, passWait };
  }
  const answer = ({ response }: Exchange) => endEvents(response, `id: e3\ndata: ${answerText(2)}\n\n`);

  test('is resumed from the last event, after the wait the server asks for', async () => {
    const { heard, passWait } = await cut(
      'id: e1\nretry: 3000\ndata: \n\n',
      ({ response }) => endEvents(response, `id: e2\ndata: ${NOTE}\n\n`),
      answer,
    );
    for (const wait of [await passWait(), await passWait()]) {
      expect(wait).toBeGreaterThanOrEqual(3_000);
      expect(wait).toBeLessThanOrEqual(4_500);
    }
    await expect.poll(() => heard.order.slice(1)).toEqual([NOTE, answerText(2)]);
    expect(lastIds().filter((id) => id !== undefined)).toEqual(['e1', 'e2']);
    await heard.channel.close();
  });

  test('is given up after five failed attempts in a row', async () => {
    const { heard, passWait } = await cut('id: e1\ndata: \n\n', ({ response }) => answerStatus(response, 503));
    for (let n = 0; n < 5; n += 1) await passWait();
    await expect.poll(() => heard.failures).toMatchObject([{ id: 2, reason: 'upstream_closed' }]);
    expect(heard.failures[0]?.cause.message).toBe('HTTP 503');
    await heard.channel.close();
  });

  test.each([405, 400])('is given up at once when resuming is answered %i', async (status) => {
    const { heard, passWait } = await cut('id: e1\ndata: \n\n', ({ response }) => answerStatus(response, status));
    await passWait();
    await expect.poll(() => heard.failures).toMatchObject([{ id: 2, reason: 'upstream_closed' }]);
    expect(heard.closed).toEqual([]);
    await heard.channel.close();
  });

  test('ends with the session when resuming is answered 404, and may have been acted on', async () => {
    const { heard, passWait } = await cut('id: e1\ndata: \n\n', ({ response }) => answerStatus(response, 404));
    await passWait();
    await expect.poll(() => heard.order.slice(1)).toEqual(['failed 2 upstream_closed', 'closed']);
    expect(heard.failures[0]?.sessionGone).toBeUndefined();
  });

  test('is not resumed once forgotten', async () => {
    const { heard, clock } = await cut('id: e1\ndata: \n\n', answer);
    const reconnects = () => clock.waits().filter((ms) => ms < 1_000);
    await expect.poll(reconnects).toHaveLength(1);
    heard.channel.forget?.(2);
    expect(reconnects()).toEqual([]);
    await heard.channel.close();
    expect(heard.order.slice(1)).toEqual(['closed']);
  });
});

test('an initialize that names no session is taken for a server without one: 404 is then one call’s failure', async () => {
  upstream = await openHttpUpstream(({ body, response }) => {
    if (body.includes('"initialize"')) answerJson(response, INITIALIZE_ANSWER);
    else answerStatus(response, body.includes('tools/call') ? 404 : 202);
  });
  const heard = await openHttp(upstream.url);
  heard.channel.send(callText(2), 2);
  await expect.poll(() => heard.failures).toMatchObject([{ id: 2, reason: 'upstream_unavailable' }]);
  expect(heard.failures[0]?.sessionGone).toBeUndefined();
  expect(heard.closed).toEqual([]);
  await heard.channel.close();
});
