import { describe, expect, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { cancellation, errorAnswer, toolCall } from '../support/messages.ts';
import { inputRequired, modernRequest } from '../support/modern-messages.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';

const gateway = fileGateway({
  mcpServers: {
    m: stdioUpstream('modern-asking.mjs'),
    s: stdioUpstream('modern-asking.mjs', [], { isolation: 'shared', uris: [] }),
  },
});

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } };
const ACCEPTED = { action: 'accept', content: { n: 7 } };
const ROOTS = { roots: [{ uri: 'file:///x' }] };
const SAMPLE = { model: 'm', role: 'assistant', content: { type: 'text', text: 'ho' } };
const FORM = { type: 'object', properties: { n: { type: 'integer' } } };

function open(capabilities: object = ALL): Promise<RawClient> {
  return openRaw(gateway().url, {}, capabilities);
}

/** The one text of an answer, parsed. */
function said(id: number, value: unknown) {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: JSON.stringify(value) }] } };
}

function answer(id: string, result: object) {
  return { jsonrpc: '2.0', id, result };
}

describe('what a modern upstream needs for a call of a handshake client', () => {
  test.each([
    ['elicit', {}, 'elicitation/create', { message: 'm', mode: 'form', requestedSchema: FORM }, ACCEPTED],
    ['elicit', {}, 'elicitation/create', { message: 'm', mode: 'form', requestedSchema: FORM }, { action: 'decline' }],
    [
      'visit',
      { url: 'https://a.example/' },
      'elicitation/create',
      {
        mode: 'url',
        message: 'go',
        url: 'https://a.example/',
        elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
      { action: 'accept' },
    ],
    [
      'sample',
      { text: 'hi' },
      'sampling/createMessage',
      { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 },
      SAMPLE,
    ],
    ['roots', {}, 'roots/list', {}, ROOTS],
  ])('%s %j is asked as a request of its own', async (tool, given, method, params, result) => {
    const client = await open();
    expect(await client.ask(toolCall(1, `m__${tool}`, given))).toEqual({ jsonrpc: '2.0', id: 'g1', method, params });
    expect(await client.ask(answer('g1', result))).toMatchObject(said(1, result));
  });

  test('several at once, one round after the other, and rounds without a question', async () => {
    const client = await open();
    client.send(toolCall(1, 'm__pair'));
    expect(await client.json()).toMatchObject({ id: 'g1', method: 'elicitation/create' });
    expect(await client.json()).toMatchObject({ id: 'g2', method: 'roots/list' });
    client.send(answer('g2', ROOTS));
    expect(await client.ask(answer('g1', ACCEPTED))).toMatchObject(said(1, [ACCEPTED, ROOTS]));
    expect(await client.ask(toolCall(2, 'm__steps'))).toMatchObject({ id: 'g3', params: { message: 'step 1' } });
    expect(await client.ask(answer('g3', ACCEPTED))).toMatchObject({ id: 'g4', params: { message: 'step 2' } });
    expect(await client.ask(answer('g4', { action: 'cancel' }))).toMatchObject(
      said(2, { step2: { action: 'cancel' } }),
    );
    expect(await client.ask(toolCall(3, 'm__later'))).toMatchObject(said(3, 'at last'));
  });

  test('an error of the client ends the call with it, and takes back what else was asked', async () => {
    const client = await open();
    client.send(toolCall(1, 'm__pair'));
    expect(await client.json()).toMatchObject({ id: 'g1' });
    expect(await client.json()).toMatchObject({ id: 'g2' });
    client.send({ jsonrpc: '2.0', id: 'g2', error: { code: -1, message: 'not now' } });
    expect(await client.json()).toEqual(errorAnswer(1, -1, 'not now'));
    expect(await client.json()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'g1' } });
  });

  test('is taken back when the client cancels the call', async () => {
    const client = await open();
    expect(await client.ask(toolCall(1, 'm__elicit'))).toMatchObject({ id: 'g1' });
    expect(await client.ask(cancellation(1))).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: 'g1' },
    });
    client.send(answer('g1', ACCEPTED));
    expect(await client.barrier()).toEqual([]);
  });

  test.each([
    ['prompts/get', { name: 'm__asked' }, { messages: [{ content: { text: JSON.stringify(ROOTS) } }] }],
    ['resources/read', { uri: 'asked:r' }, { contents: [{ uri: 'asked:r', text: JSON.stringify(ROOTS) }] }],
  ])('may be needed for %s too', async (method, params, result) => {
    const client = await open();
    expect(await client.ask({ jsonrpc: '2.0', id: 1, method, params })).toMatchObject({
      id: 'g1',
      method: 'roots/list',
    });
    expect(await client.ask(answer('g1', ROOTS))).toMatchObject({ id: 1, result });
  });

  test('is sixteen questions in one answer at most', async () => {
    const client = await open();
    client.send(toolCall(1, 'm__crowd', { length: 16 }));
    for (let at = 1; at <= 16; at += 1) expect(await client.json()).toMatchObject({ id: `g${at}` });
    expect(await client.ask(toolCall(2, 'm__crowd', { length: 17 }))).toMatchObject({
      id: 2,
      error: { code: -32603, data: { reason: 'too_large' } },
    });
  });

  test('an upstream that asks without end is given up', async () => {
    const client = await open();
    client.send(toolCall(1, 'm__endless'));
    for (let round = 1; round <= 16; round += 1) {
      expect(await client.json()).toMatchObject({ id: `g${round}`, method: 'roots/list' });
      client.send(answer(`g${round}`, ROOTS));
    }
    expect(await client.json()).toMatchObject({ id: 1, error: { code: -32603, data: { reason: 'too_large' } } });
  });

  test('it is told what the client declared, and one that declared nothing is not asked', async () => {
    const client = await open();
    expect(await client.ask(toolCall(1, 'm__declared'))).toMatchObject(said(1, ALL));
    const bare = await open({});
    expect(await bare.ask(toolCall(1, 'm__declared'))).toMatchObject(said(1, {}));
    expect(await bare.ask(toolCall(2, 'm__elicit'))).toEqual(
      errorAnswer(2, -32602, expect.stringContaining('capabilit')),
    );
  });

  test('a shared upstream knows whom each request is from', async () => {
    const [client, bare] = [await open(), await open({})];
    expect(await client.ask(toolCall(1, 's__elicit'))).toMatchObject({ id: 'g1' });
    expect(await client.ask(answer('g1', ACCEPTED))).toMatchObject(said(1, ACCEPTED));
    expect(await bare.ask(toolCall(1, 's__declared'))).toMatchObject(said(1, {}));
    expect(await bare.barrier()).toEqual([]);
  });

  test('a resource it does not have is -32002', async () => {
    const client = await open();
    const read = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'asked:none' } };
    expect(await client.ask(read)).toMatchObject({ id: 1, error: { code: -32002, data: { uri: 'asked:none' } } });
  });

  test('shapes of its era alone are left out', async () => {
    const client = await open();
    const { tools } = Object(Object(await client.ask({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).result);
    expect(tools.find(({ name }: { name: string }) => name === 'm__odd')).toEqual({
      name: 'm__odd',
      inputSchema: { type: 'object' },
    });
    const { result } = Object(await client.ask(toolCall(2, 'm__odd')));
    expect(Object.keys(result).sort()).toEqual(['_meta', 'content', 'resultType']);
  });
});

describe('a modern client of a modern upstream', () => {
  function call(id: number, tool: string, more: object = {}, capabilities: object = ALL) {
    return modernRequest(id, 'tools/call', { name: `m__${tool}`, ...more }, { capabilities });
  }

  test('answers the upstream itself, whose state it never sees', async () => {
    const client = await connectRaw(gateway().url);
    const first = inputRequired(await client.ask(call(1, 'steps'))).result;
    expect(first.inputRequests).toHaveProperty('step1');
    expect(first.requestState).toMatch(/^[A-Za-z0-9_-]{50,}$/);
    const one = { inputResponses: { step1: ACCEPTED }, requestState: first.requestState };
    const second = inputRequired(await client.ask(call(2, 'steps', one))).result;
    const two = { inputResponses: { step2: { action: 'decline' } }, requestState: second.requestState };
    expect(await client.ask(call(3, 'steps', two))).toMatchObject({
      id: 3,
      result: { resultType: 'complete', content: [{ text: JSON.stringify({ step2: { action: 'decline' } }) }] },
    });
    for (const state of ['1', first.requestState, second.requestState.replace(/^./, 'B')]) {
      expect(await client.ask(call(4, 'steps', { ...one, requestState: state }))).toEqual(
        errorAnswer(4, -32602, 'The request state is no longer valid', { reason: 'state_gone', retryable: false }),
      );
    }
  });

  test.each([
    [48 * 1024, { result: { resultType: 'input_required' } }],
    [48 * 1024 + 1, { error: { code: -32603, data: { reason: 'too_large' } } }],
  ])('a state of %i characters', async (length, expected) => {
    const client = await connectRaw(gateway().url);
    expect(await client.ask(call(1, 'bulky', { arguments: { length } }))).toMatchObject(expected);
  });

  test('needs no state where the upstream has none', async () => {
    const client = await connectRaw(gateway().url);
    const asked = await client.ask(call(1, 'elicit'));
    expect(asked).toMatchObject({ result: { inputRequests: { q: { method: 'elicitation/create' } } } });
    expect(Object(Object(asked).result)).not.toHaveProperty('requestState');
    expect(await client.ask(call(2, 'elicit', { inputResponses: { q: ACCEPTED } }))).toMatchObject({
      id: 2,
      result: { content: [{ text: JSON.stringify(ACCEPTED) }] },
    });
  });

  test('is told what it lacks', async () => {
    const client = await connectRaw(gateway().url);
    expect(await client.ask(call(1, 'sample', { arguments: { text: 'x' } }, {}))).toMatchObject({
      id: 1,
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
  });

  test('sees the shapes of its own era', async () => {
    const client = await connectRaw(gateway().url);
    expect(await client.ask(call(1, 'odd'))).toMatchObject({ result: { structuredContent: [1, 2] } });
    const { tools } = Object(Object(await client.ask(modernRequest(2, 'tools/list'))).result);
    expect(tools.find(({ name }: { name: string }) => name === 'm__odd')).toHaveProperty('outputSchema');
  });
});
