import { beforeAll, describe, expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { cancellation, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';

const record = recordFile();
const gateway = fileGateway({
  mcpServers: {
    a: stdioUpstream('asking.mjs', [record.path], { timeout: '1500ms' }),
    h: stdioUpstream('asking.mjs', [record.path], { timeout: '300ms' }),
    b: stdioUpstream('asking.mjs', [record.path], { isolation: 'shared' }),
  },
});

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } };

function open(capabilities: object = ALL): Promise<RawClient> {
  return openRaw(gateway().url, {}, capabilities);
}

function outcome(id: number, value: unknown) {
  return textAnswer(id, JSON.stringify(value));
}

describe('a question of an upstream', () => {
  let client: RawClient;

  beforeAll(() => {
    expect(gateway().url).toMatch(/^ws:/);
  });

  test.each([
    ['elicit', { message: 'which?' }, 'elicitation/create', { action: 'accept', content: { n: 7 } }],
    ['elicit', { message: 'which?' }, 'elicitation/create', { action: 'decline' }],
    ['elicit', { message: 'which?' }, 'elicitation/create', { action: 'cancel' }],
    ['visit', { url: 'https://a.example/' }, 'elicitation/create', { action: 'accept' }],
    [
      'sample',
      { text: 'hi' },
      'sampling/createMessage',
      { model: 'm', role: 'assistant', content: { type: 'text', text: 'ho' } },
    ],
    [
      'sample',
      { text: 'hi', tools: true },
      'sampling/createMessage',
      { model: 'm', role: 'assistant', content: { type: 'text', text: 'ho' } },
    ],
    ['roots', {}, 'roots/list', { roots: [{ uri: 'file:///x' }] }],
  ])(
    '%s %j reaches the client under an id of the gateway, its answer the upstream: %s',
    async (tool, given, method, result) => {
      client = await open();
      client.send(toolCall(1, `a__${tool}`, given));
      expect(await client.json()).toMatchObject({ jsonrpc: '2.0', id: 'g1', method });
      client.send({ jsonrpc: '2.0', id: 'g1', result });
      expect(await client.json()).toEqual(outcome(1, result));
    },
  );

  test('is counted up on one socket, and an error of the client reaches the upstream', async () => {
    client = await open();
    client.send(toolCall(1, 'a__roots'));
    expect(await client.json()).toMatchObject({ id: 'g1' });
    client.send({ jsonrpc: '2.0', id: 'g1', error: { code: -32000, message: 'no roots today' } });
    expect(await client.json()).toEqual(outcome(1, { code: -32000, message: 'MCP error -32000: no roots today' }));
    client.send(toolCall(2, 'a__roots'));
    expect(await client.json()).toMatchObject({ id: 'g2' });
  });

  test('that is an error to be acted on reaches the client as it is', async () => {
    client = await open();
    client.send(toolCall(1, 'a__pay'));
    const page = { mode: 'url', message: 'pay', url: 'https://pay.example/', elicitationId: 'e2' };
    expect(await client.json()).toMatchObject({ id: 1, error: { code: -32042, data: { elicitations: [page] } } });
  });

  test('is asked of the caller alone, whatever ids two clients use', async () => {
    const [one, two] = [await open(), await open()];
    one.send(toolCall(1, 'a__elicit', { message: 'one' }));
    two.send(toolCall(1, 'a__elicit', { message: 'two' }));
    expect(await one.json()).toMatchObject({ id: 'g1', params: { message: 'one' } });
    expect(await two.json()).toMatchObject({ id: 'g1', params: { message: 'two' } });
    two.send({ jsonrpc: '2.0', id: 'g1', result: { action: 'decline' } });
    one.send({ jsonrpc: '2.0', id: 'g1', result: { action: 'cancel' } });
    expect(await one.json()).toEqual(outcome(1, { action: 'cancel' }));
    expect(await two.json()).toEqual(outcome(1, { action: 'decline' }));
  });

  test('withdrawn by the upstream is withdrawn from the client, and a late answer goes nowhere', async () => {
    client = await open();
    client.send(toolCall(1, 'a__withdraw'));
    expect(await client.json()).toMatchObject({ id: 'g1', method: 'elicitation/create' });
    expect(await client.json()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'g1' } });
    expect(await client.json()).toMatchObject({ id: 1 });
    client.send({ jsonrpc: '2.0', id: 'g1', result: { action: 'accept' } });
    client.send({ jsonrpc: '2.0', id: 'g9', result: {} });
    expect(await client.barrier()).toEqual([]);
    const metrics = await gateway().metrics();
    expect(metrics).toContain('mcp_gateway_unexpected_answers_total{source="client",kind="late"} 1');
    expect(metrics).toContain('mcp_gateway_unexpected_answers_total{source="client",kind="unknown"} 1');
  });

  test('outlives the call, which the client may cancel: the upstream alone knows what it asked for', async () => {
    client = await open();
    client.send(toolCall(1, 'a__elicit', { message: 'x' }));
    expect(await client.json()).toMatchObject({ id: 'g1' });
    client.send(cancellation(1));
    client.send({ jsonrpc: '2.0', id: 'g1', result: { action: 'decline' } });
    expect(await client.barrier()).toEqual([]);
    expect(await client.ask(toolCall(1, 'a__declared'))).toMatchObject({ id: 1 });
  });

  test('stops the clock of the call while it is open', async () => {
    client = await open();
    client.send(toolCall(1, 'h__elicit', { message: 'slow human' }));
    expect(await client.json()).toMatchObject({ id: 'g1' });
    // Two calls on another link, each of which takes 200 ms: longer together than the first has.
    for (const id of [2, 3]) {
      expect(await client.ask(toolCall(id, 'a__withdraw'))).toMatchObject({ method: 'elicitation/create' });
      await client.json();
      await client.json();
    }
    client.send({ jsonrpc: '2.0', id: 'g1', result: { action: 'accept', content: {} } });
    expect(await client.json()).toEqual(outcome(1, { action: 'accept', content: {} }));
  });

  test('beyond sixteen open ones is refused', async () => {
    client = await open();
    client.send(toolCall(1, 'a__many'));
    for (let asked = 1; asked <= 16; asked += 1) expect(await client.json()).toMatchObject({ id: `g${asked}` });
    for (let asked = 1; asked <= 16; asked += 1)
      client.send({ jsonrpc: '2.0', id: `g${asked}`, result: { roots: [] } });
    expect(await client.json()).toEqual(outcome(1, [...Array.from({ length: 16 }, () => 'answered'), -32603]));
  });
});

describe('what a client did not declare', () => {
  test.each([
    ['elicit', { message: 'x' }, {}, -32601],
    ['elicit', { message: 'x' }, { elicitation: { url: {} } }, -32602],
    ['visit', { url: 'https://a.example/' }, { elicitation: {} }, -32602],
    ['sample', { text: 'x', tools: true }, { sampling: {} }, -32602],
    ['roots', {}, { sampling: {} }, -32601],
  ])('%s %j is not asked of one that declared %j', async (tool, given, declared, code) => {
    const client = await open(declared);
    client.send(toolCall(1, `a__${tool}`, given));
    const answer = JSON.stringify(await client.json());
    expect(answer).toContain('"id":1');
    expect(answer).toMatch(new RegExp(`${code}|does not support|Client does not`));
  });

  test('nobody is asked on a shared link', async () => {
    const client = await open();
    expect(JSON.stringify(await client.ask(toolCall(1, 'b__roots')))).toMatch(/-32601|does not support/);
  });
});

test('an upstream sees what this client declared, and nothing of the gateway’s own', async () => {
  const client = await open({ roots: {}, experimental: { x: {} } });
  expect(await client.ask(toolCall(1, 'a__declared'))).toEqual(outcome(1, { experimental: { x: {} }, roots: {} }));
});

test('that an elicitation is complete, and that roots changed, are passed on', async () => {
  const client = await open();
  client.send(toolCall(1, 'a__complete'));
  expect(await client.json()).toEqual({
    method: 'notifications/elicitation/complete',
    params: { elicitationId: 'e1' },
    jsonrpc: '2.0',
  });
  await client.json();
  client.send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
  await client.ask(toolCall(2, 'a__declared'));
  expect(record.lines()).toEqual(['roots changed']);
});
