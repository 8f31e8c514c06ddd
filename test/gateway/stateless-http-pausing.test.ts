import { get, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { dialStreamableHttp } from '../../src/upstream/streamable-http.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { hear } from '../support/heard-channel.ts';
import { hearModern } from '../support/heard-modern.ts';
import { answerText, type HttpUpstream, openHttpUpstream, startEvents } from '../support/http-upstream.ts';
import { modernRequest } from '../support/modern-request.ts';
import { recordedLog } from '../support/recorded.ts';

let upstream: HttpUpstream;
afterEach(() => upstream.close());

const call = modernRequest(2, 'tools/call', { name: 'echo' });

/** A request of its own, answered after all that reached the server before it. */
function roundTrip(): Promise<void> {
  return new Promise((resolve, reject) => {
    get(upstream.url, { agent: false }, (answer) => answer.resume().on('close', resolve)).on('error', reject);
  });
}

/** Dials; the channel is paused inside the delivery of the first message. */
async function hearAndPause() {
  const heard = await hearModern(upstream.url);
  const told = heard.messages.push.bind(heard.messages);
  heard.messages.push = (text) => {
    if (heard.messages.length === 0) heard.channel.pause();
    return told(text);
  };
  return { ...heard, texts: () => [...heard.messages] };
}

test('a paused channel tells nothing of what one chunk carried, and goes on in order', async () => {
  const texts = ['{"n":1}', '{"n":2}', answerText(2)];
  upstream = await openHttpUpstream(({ method, response }) => {
    if (method === 'GET') response.end();
    else startEvents(response, texts.map((text) => `data: ${text}\n\n`).join(''));
  });
  const heard = await hearAndPause();
  heard.channel.send(...call);
  await expect.poll(heard.texts).toEqual(texts.slice(0, 1));
  await roundTrip();
  expect(heard.texts()).toEqual(texts.slice(0, 1));
  heard.channel.resume();
  await expect.poll(heard.texts).toEqual(texts);
  await heard.channel.close();
});

test('a paused channel lets the server wait', async () => {
  const big = `{"jsonrpc":"2.0","id":2,"result":"${'x'.repeat(16_000_000)}"}`;
  let answer: ServerResponse | undefined;
  upstream = await openHttpUpstream(({ method, response }) => {
    if (method === 'GET') return void response.end();
    answer = response;
    startEvents(response, 'data: {}\n\n');
  });
  const heard = await hearModern(upstream.url, { maxMessage: 32_000_000 });
  heard.channel.send(...call);
  await expect.poll(() => heard.messages).toEqual(['{}']);
  heard.channel.pause();
  let drained = false;
  answer?.write(`data: ${big}\n\n`, () => {
    drained = true;
  });
  for (let n = 0; n < 10; n += 1) await roundTrip();
  expect(drained).toBe(false);
  heard.channel.resume();
  await expect.poll(() => heard.messages.at(-1)?.length).toBe(big.length);
  expect(drained).toBe(true);
  await heard.channel.close();
});

test('closed while paused, it tells nothing more but the end', async () => {
  upstream = await openHttpUpstream(({ method, response }) => {
    if (method === 'GET') response.end();
    else startEvents(response, `data: {}\n\ndata: ${answerText(2)}\n\n`);
  });
  const heard = await hearAndPause();
  heard.channel.send(...call);
  await expect.poll(heard.texts).toEqual(['{}']);
  await heard.channel.close();
  heard.channel.resume();
  expect(heard.order).toEqual(['{}', 'closed']);
});

test('what follows an answer on its stream is not lost by a pause, however long', async () => {
  const clock = fakeClock();
  let answer: ServerResponse | undefined;
  upstream = await openHttpUpstream(({ method, response }) => {
    if (method === 'GET') return void response.end();
    answer = response;
    startEvents(response, `data: ${answerText(2)}\n\n`);
  });
  const dial = dialStreamableHttp(
    { url: upstream.url, headers: {}, maxMessage: 1_000_000 },
    { log: recordedLog(), clock, upstream: 'up' },
  );
  const heard = await hear((receiver, signal) => dial(receiver, signal, 'modern'));
  heard.channel.send(...call);
  await expect.poll(() => heard.messages).toEqual([answerText(2)]);
  heard.channel.pause();
  answer?.write('data: {"n":1}\n\n');
  await roundTrip();
  clock.advance(60_000);
  heard.channel.resume();
  await expect.poll(() => heard.messages.at(-1)).toBe('{"n":1}');
  const ended = new Promise((resolve) => void answer?.once('close', resolve));
  clock.advance(5000);
  await ended;
  await heard.channel.close();
});
