import { expect, test } from 'vitest';
import { errorAnswer, toolCall } from '../support/messages.ts';
import { limited, ping, pong, ratedGateway } from '../support/rated-gateway.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';

const PARSE_ERROR = errorAnswer(null, -32700, 'Parse error');
const INVALID = errorAnswer(null, -32600, 'Invalid Request');
const IN_FLIGHT = errorAnswer(null, -32600, 'Invalid Request: the id is in flight');
const CLOSED = { code: 4400, reason: 'malformed' };

test('20 malformed messages within a minute are answered, then the socket is closed 4400', async () => {
  const { clock, gateway, metric } = await ratedGateway({});
  const client = await openRaw(gateway.url);
  for (let n = 1; n <= 19; n += 1) expect(await client.ask('{')).toEqual(PARSE_ERROR);
  clock.advance(60_000);
  expect(await client.barrier()).toEqual([]);
  expect(await client.ask('{')).toEqual(PARSE_ERROR);
  expect(await client.closed).toEqual(CLOSED);
  await expect.poll(() => metric('connections_closed_total', { code: '4400', by: 'gateway' })).toBe(1);
});

test('20 in more than a minute are not, nor 19 on each of two sockets', async () => {
  const { clock, gateway } = await ratedGateway({});
  const [client, other] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  for (let n = 1; n <= 19; n += 1) expect(await client.ask('{')).toEqual(PARSE_ERROR);
  for (let n = 1; n <= 19; n += 1) expect(await other.ask('{')).toEqual(PARSE_ERROR);
  clock.advance(60_001);
  for (let n = 1; n <= 19; n += 1) expect(await client.ask('{')).toEqual(PARSE_ERROR);
  expect([await client.barrier(), await other.barrier()]).toEqual([[], []]);
});

test('whatever is answered with id null counts, also where no rate is set', async () => {
  const { gateway } = await ratedGateway({ requestsPerSecond: null });
  const client = await openRaw(gateway.url);
  client.send(toolCall(1, 'up__wait'));
  for (let n = 1; n <= 6; n += 1) {
    expect(await client.ask('{')).toEqual(PARSE_ERROR);
    expect(await client.ask([ping(2)])).toEqual(INVALID);
    expect(await client.ask(ping(1))).toEqual(IN_FLIGHT);
  }
  expect(await client.ask({ jsonrpc: '1.0', id: 2, method: 'ping' })).toEqual(INVALID);
  expect(await client.barrier()).toEqual([]);
  expect(await client.ask('[')).toEqual(PARSE_ERROR);
  expect(await client.closed).toEqual(CLOSED);
});

test('malformed members of a batch are answered in it before the socket is closed', async () => {
  const { gateway } = await ratedGateway({});
  const client = await connectRaw(gateway.url);
  await client.initialize('2025-03-26');
  client.send([ping(1), ...Array.from({ length: 20 }, () => 7)]);
  expect(await client.json()).toEqual([pong(1), ...Array.from({ length: 20 }, () => INVALID)]);
  expect(await client.closed).toEqual(CLOSED);
});

test('one costs five requests; over the rate it is dropped without an answer, and counted', async () => {
  const { gateway, metric } = await ratedGateway({ requestsPerSecond: { rate: 1, burst: 11 } });
  const client = await connectRaw(gateway.url);
  expect([await client.ask('{'), await client.ask('{')]).toEqual([PARSE_ERROR, PARSE_ERROR]);
  client.send('{');
  expect(await client.ask(ping(1))).toEqual(pong(1));
  expect(await client.ask(ping(2))).toEqual(limited(2, 1000));
  expect(await metric('messages_refused_total', { kind: 'malformed' })).toBe(1);
});

test('a duplicate of an id in flight is never refused under that id, over the rate either', async () => {
  const { clock, gateway } = await ratedGateway({ requestsPerSecond: { rate: 1, burst: 3 } });
  const client = await openRaw(gateway.url);
  client.send(toolCall(1, 'up__wait'));
  client.send(ping(1));
  expect(await client.ask(ping(2))).toEqual(limited(2, 200));
  clock.advance(5000);
  expect(await client.ask(ping(1))).toEqual(IN_FLIGHT);
});
