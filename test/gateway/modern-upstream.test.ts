import { describe, expect, test } from 'vitest';
import { CLIENT_ERAS, type ClientEra, type EraClient, openEra } from '../support/era-client.ts';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream, type TestGateway } from '../support/gateway.ts';

const ONE = 'note://one';
const record = recordFile();
/** A child may take its time to start. */
const SLOWLY = { timeout: 10_000 };

/** A gateway before a real SDK 2.x server of the modern era alone. */
async function open(more: object = {}): Promise<TestGateway> {
  const gateway = await startGateway({
    mcpServers: { up: stdioUpstream('modern.mjs', [record.path, 'reject'], { ...more }) },
    timing: { listChangeCoalesce: '1ms' },
  });
  await gateway.ready();
  return gateway;
}

const call = (client: EraClient, id: string, name: string, given: object = {}, meta: object = {}) =>
  client.ask(id, 'tools/call', { name: `up__${name}`, arguments: given }, { ...meta });

/** The answer with one text, whatever else stands beside it. */
const text = (id: string, value: string) => ({ id, result: { content: [{ type: 'text', text: value }] } });

const ISOLATIONS = ['session', 'shared'] as const;
const eras = CLIENT_ERAS.flatMap((era) =>
  ISOLATIONS.map((isolation): [ClientEra, (typeof ISOLATIONS)[number]] => [era, isolation]),
);

describe.each(eras)('a %s client of a modern upstream with isolation %s', (era, isolation) => {
  const openBoth = async () => {
    const gateway = await open({ isolation });
    return { gateway, client: await openEra(era, gateway.url) };
  };

  test('finds what it offers, calls, reads and gets', async () => {
    const { client } = await openBoth();
    const list = await client.ask('l', 'tools/list');
    expect(list).toMatchObject({ result: { tools: expect.arrayContaining([toolOf('up__echo'), toolOf('up__add')]) } });
    expect(await call(client, 'e', 'echo', { text: 'hi' })).toMatchObject(text('e', 'hi'));
    expect(await call(client, 'f', 'fail')).toMatchObject({
      id: 'f',
      error: { code: -32063, message: 'custom', data: { a: 1 } },
    });
    expect(await client.ask('r', 'resources/read', { uri: ONE })).toMatchObject({
      id: 'r',
      result: { contents: [{ uri: ONE, text: `read ${ONE}` }] },
    });
    expect(await client.ask('g', 'prompts/get', { name: 'up__greet' })).toMatchObject({
      id: 'g',
      result: { messages: [{ role: 'user', content: { type: 'text', text: 'greet' } }] },
    });
  });

  test('hears the progress of its call before the answer, under its own token', async () => {
    const { client } = await openBoth();
    client.raw.send(client.request('s', 'tools/call', { name: 'up__slow' }, { progressToken: 'mine' }));
    for (const progress of [1, 2, 3]) {
      expect(await client.raw.json()).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'mine', progress, total: 3 },
      });
    }
    expect(await client.raw.json()).toMatchObject(text('s', 'done'));
  });

  test('cancels: the upstream is told, nothing is answered', async () => {
    const { client } = await openBoth();
    const before = record.lines().filter((line) => line === 'cancelled').length;
    client.raw.send(client.request('w', 'tools/call', { name: 'up__wait' }));
    await expect.poll(() => record.lines().at(-1), SLOWLY).toBe('waiting');
    client.raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'w' } });
    await expect.poll(() => record.lines().filter((line) => line === 'cancelled'), SLOWLY).toHaveLength(before + 1);
    expect(await call(client, 'e', 'echo', { text: 'after' })).toMatchObject(text('e', 'after'));
  });
});

test.each(ISOLATIONS)(
  'with isolation %s a handshake client hears of what it is subscribed to, and then no more',
  async (isolation) => {
    const client = await openEra('handshake', (await open({ isolation })).url);
    await client.ask('sub', 'resources/subscribe', { uri: ONE });
    client.raw.send(client.request('t', 'tools/call', { name: 'up__touch', arguments: { uri: ONE } }));
    const update = { method: 'notifications/resources/updated', params: { uri: ONE } };
    expect(await frames(client, 2)).toMatchObject([update, text('t', 'touched')]);
    await client.ask('unsub', 'resources/unsubscribe', { uri: ONE });
    expect(await call(client, 't', 'touch', { uri: ONE })).toMatchObject(text('t', 'touched'));
    expect(await client.pending()).toEqual([]);
  },
);

test.each(ISOLATIONS)('with isolation %s a modern client hears of what it listens to', async (isolation) => {
  const client = await openEra('modern', (await open({ isolation })).url);
  client.raw.send(client.request('l', 'subscriptions/listen', { notifications: { resourceSubscriptions: [ONE] } }));
  expect(await client.raw.json()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  // The gateway listens to the upstream only after that: earlier touches go unheard.
  const touched = () => {
    client.raw.send(client.request('t', 'tools/call', { name: 'up__touch', arguments: { uri: ONE } }));
    return client.raw.json();
  };
  const update = { method: 'notifications/resources/updated', params: { uri: ONE } };
  await expect.poll(touched, SLOWLY).toMatchObject(update);
});

test('a changed list reaches clients of both eras', async () => {
  const gateway = await open({ isolation: 'shared' });
  const handshake = await openEra('handshake', gateway.url);
  const modern = await openEra('modern', gateway.url);
  modern.raw.send(modern.request('listen', 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
  expect(await modern.raw.json()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  handshake.raw.send(handshake.request('a', 'tools/call', { name: 'up__add' }));
  expect(await frames(handshake, 2)).toMatchObject([
    { method: 'notifications/tools/list_changed' },
    text('a', 'added1'),
  ]);
  expect(await modern.raw.json()).toMatchObject({ method: 'notifications/tools/list_changed' });
  const list = await handshake.ask('l', 'tools/list');
  expect(list).toMatchObject({ result: { tools: expect.arrayContaining([toolOf('up__added1')]) } });
});

test('a log message comes at the level a handshake client has set', async () => {
  const gateway = await open();
  const client = await openEra('handshake', gateway.url);
  await client.ask('level', 'logging/setLevel', { level: 'warning' });
  expect(await call(client, 'quiet', 'log', { level: 'info' })).toMatchObject(text('quiet', 'logged'));
  client.raw.send(client.request('loud', 'tools/call', { name: 'up__log', arguments: { level: 'error' } }));
  expect(await client.raw.json()).toMatchObject({
    method: 'notifications/message',
    params: { level: 'error', data: 'said' },
  });
  expect(await client.raw.json()).toMatchObject(text('loud', 'logged'));
});

test('what it says of itself is what a client is told', async () => {
  const gateway = await open();
  const client = await openEra('modern', gateway.url);
  expect(await client.ask('d', 'server/discover')).toMatchObject({
    result: {
      capabilities: { logging: {}, resources: { subscribe: true } },
      instructions: expect.stringContaining('Be modern.'),
    },
  });
});

function toolOf(name: string): object {
  return expect.objectContaining({ name });
}

/** The next frames, answers last: what is said besides a call keeps no order with it. */
async function frames(client: EraClient, count: number): Promise<unknown[]> {
  const heard: string[] = [];
  while (heard.length < count) heard.push(await client.raw.next());
  const isAnswer = (frame: string) => Number(frame.includes('"result":'));
  return heard.sort((a, b) => isAnswer(a) - isAnswer(b)).map((frame) => JSON.parse(frame));
}
