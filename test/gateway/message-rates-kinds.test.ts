import { describe, expect, test } from 'vitest';
import { cancellation, toolCall } from '../support/messages.ts';
import { limited, ping, pong, ratedGateway } from '../support/rated-gateway.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';

const notice = (method: string) => ({ jsonrpc: '2.0', method });

/** A client that has opened its session, a gateway of one request a second, and a clock that stands still. */
async function open(burst: number, capabilities: object = {}) {
  const rated = await ratedGateway({ requestsPerSecond: { rate: 1, burst } });
  return { ...rated, client: await openRaw(rated.gateway.url, {}, capabilities) };
}

/** Of a burst of 3 the opening took 1.2, a call 1: these four take the rest. */
function takeTheRest(client: RawClient): void {
  for (let n = 0; n < 4; n += 1) client.send(notice('acme/heard'));
}

describe('a notification', () => {
  test('costs a fifth of a request', async () => {
    const { gateway } = await ratedGateway({ requestsPerSecond: { rate: 1, burst: 10 } });
    const client = await connectRaw(gateway.url);
    for (let n = 0; n < 45; n += 1) client.send(notice('notifications/unknown'));
    expect(await client.ask(ping(1))).toEqual(pong(1));
    expect(await client.ask(ping(2))).toEqual(limited(2, 1000));
  });

  test('over the rate is dropped, counted, and nothing else comes of it', async () => {
    const { client, clock, heard, metric } = await open(3);
    await client.ask(toolCall(1, 'up__act'));
    takeTheRest(client);
    client.send(notice('acme/dropped'));
    expect(await client.ask(ping(2))).toEqual(limited(2, 1000));
    expect(await metric('messages_refused_total', { kind: 'notification' })).toBe(1);
    clock.advance(1000);
    client.send(notice('acme/last'));
    await expect.poll(heard).toContain('acme/last');
    expect(heard().filter((what) => String(what).startsWith('acme/'))).toEqual([
      ...Array.from({ length: 4 }, () => 'acme/heard'),
      'acme/last',
    ]);
  });
});

describe('without anything left', () => {
  test('a cancellation still reaches the upstream, and is charged', async () => {
    const { client, heard } = await open(3);
    client.send(toolCall(1, 'up__wait'));
    await expect.poll(heard).toContain('tools/call');
    takeTheRest(client);
    client.send(cancellation(1));
    expect(await client.ask(ping(2))).toEqual(limited(2, 1200));
    await expect.poll(heard).toContain('notifications/cancelled');
  });

  test('the answer to what an upstream asked still reaches it, and is charged', async () => {
    const { client, heard } = await open(3, { roots: {} });
    expect(await client.ask(toolCall(1, 'up__ask'))).toMatchObject({ id: 'g1', method: 'roots/list' });
    takeTheRest(client);
    client.send({ jsonrpc: '2.0', id: 'g1', result: { roots: [] } });
    expect(await client.ask(ping(2))).toEqual(limited(2, 1200));
    await expect.poll(heard).toContain('asked');
  });

  test('a session is still initialized', async () => {
    const { client, metric } = await open(1);
    expect(await client.ask(ping(1))).toEqual(limited(1, 1200));
    expect(await metric('messages_refused_total', { kind: 'notification' })).toBeUndefined();
  });
});

test('each member of a batch is charged by itself, and what is refused is answered in the batch', async () => {
  const { gateway } = await ratedGateway({ requestsPerSecond: { rate: 1, burst: 5 } });
  const client = await connectRaw(gateway.url);
  await client.initialize('2025-03-26');
  client.send([ping(1), notice('notifications/unknown'), ping(2), ping(3), ping(4)]);
  expect(await client.json()).toEqual([pong(1), pong(2), pong(3), limited(4, 400)]);
});

describe('a member over the rate that has the id of a request under way is dropped, and the answers come,', () => {
  const waiting = async (burst: number) => {
    const rated = await ratedGateway({ requestsPerSecond: { rate: 1, burst } });
    const client = await connectRaw(rated.gateway.url);
    await client.initialize('2025-03-26');
    const called = () => expect.poll(rated.heard).toContain('tools/call');
    return { ...rated, client, called };
  };
  const call = toolCall(1, 'up__wait');
  const answer = { jsonrpc: '2.0', id: 1, result: { content: [] } };

  test('where that is a member before it', async () => {
    const { client, called, answerHeld, metric } = await waiting(4);
    client.send([call, call]);
    await called();
    answerHeld();
    expect(await client.json()).toEqual([answer]);
    expect(await metric('messages_refused_total', { kind: 'malformed' })).toBe(1);
  });

  test('where that is a member of another batch', async () => {
    const { client, called, answerHeld } = await waiting(5);
    client.send([ping('p'), call]);
    client.send([call]);
    await called();
    answerHeld();
    expect(await client.json()).toEqual([pong('p'), answer]);
  });

  test('where that is by itself', async () => {
    const { client, called, answerHeld } = await waiting(5);
    client.send(call);
    client.send([call, ping('p')]);
    expect(await client.json()).toEqual([pong('p')]);
    await called();
    answerHeld();
    expect(await client.json()).toEqual(answer);
  });
});

describe('1,000 messages over the rate within 10 s', () => {
  test('end the socket with 4429 and a hint; 999 do not, nor 999 more after that time', async () => {
    const { client, clock, metric } = await open(3);
    expect(await client.ask(ping(0))).toEqual(pong(0));
    for (let n = 0; n < 999; n += 1) client.send(ping('over'));
    for (let n = 0; n < 999; n += 1) expect(await client.json()).toEqual(limited('over', 200));
    expect(await metric('messages_refused_total', { kind: 'request' })).toBe(999);
    clock.advance(10_001);
    for (let n = 0; n < 3; n += 1) expect(await client.ask(ping(n))).toEqual(pong(n));
    for (let n = 0; n < 999; n += 1) client.send(ping('over'));
    for (let n = 0; n < 999; n += 1) expect(await client.json()).toEqual(limited('over', 1000));
    expect(await client.ask(ping('last'))).toEqual(limited('last', 1000));
    expect(await client.closed).toEqual({ code: 4429, reason: 'too_many retry=3000' });
    await expect.poll(() => metric('connections_closed_total', { code: '4429', by: 'gateway' })).toBe(1);
  });

  test('may be answers to nothing', async () => {
    const { client } = await open(3);
    for (let n = 0; n < 1009; n += 1) client.send({ jsonrpc: '2.0', id: 'g1', result: {} });
    expect(await client.closed).toEqual({ code: 4429, reason: 'too_many retry=6000' });
  });
});
