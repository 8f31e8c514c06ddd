import { describe, expect, test, vi } from 'vitest';
import { DRAINED } from '../support/drained.ts';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { cancellation, errorAnswer } from '../support/messages.ts';
import { inputRequired, isInputRequired, modernRequest } from '../support/modern-messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';

const record = recordFile();
const asking = stdioUpstream('asking.mjs', [record.path]);
/** Without a rate: one of the tests sends again as fast as it is answered. */
const gateway = fileGateway({ mcpServers: { a: asking }, limits: { requestsPerSecond: null } });

const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const ACCEPTED = { action: 'accept', content: { n: 7 } };
const ROOTS = { roots: [{ uri: 'file:///x' }] };
/** For a machine with other work. */
const PATIENT = { timeout: 10_000 };
const STATE_GONE = { reason: 'state_gone', retryable: false };

function connect(url = gateway().url): Promise<RawClient> {
  return connectRaw(url);
}

function call(id: number, tool: string, given: object = {}, more: object = {}, capabilities: object = EVERYTHING) {
  return modernRequest(id, 'tools/call', { name: `a__${tool}`, arguments: given, ...more }, { capabilities });
}

function complete(id: number, value: unknown) {
  const content = [{ type: 'text', text: JSON.stringify(value) }];
  return { jsonrpc: '2.0', id, result: { resultType: 'complete', content } };
}

function gone(id: number) {
  return errorAnswer(id, -32602, 'The request state is no longer valid', STATE_GONE);
}

/** Asks and returns the state of the answer. */
async function stateOf(client: RawClient, id: number, tool = 'elicit', given: object = { message: 'm' }) {
  return inputRequired(await client.ask(call(id, tool, given))).result.requestState;
}

describe('what a handshake upstream asks for a call of a modern client', () => {
  test.each([
    [
      'elicit',
      { message: 'which?' },
      {
        method: 'elicitation/create',
        params: { message: 'which?', requestedSchema: { type: 'object', properties: { n: { type: 'integer' } } } },
      },
      ACCEPTED,
    ],
    [
      'visit',
      { url: 'https://a.example/' },
      { method: 'elicitation/create', params: { mode: 'url', message: 'go', url: 'https://a.example/' } },
      { action: 'accept' },
    ],
    [
      'sample',
      { text: 'hi' },
      {
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 },
      },
      { model: 'm', role: 'assistant', content: { type: 'text', text: 'ho' } },
    ],
    ['roots', {}, { method: 'roots/list', params: {} }, ROOTS],
  ])('%s is its answer, and the same request brings the upstream the result', async (tool, given, question, result) => {
    const client = await connect();
    const asked = inputRequired(await client.ask(call(1, tool, given)));
    expect(asked).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'input_required',
        inputRequests: { g1: question },
        requestState: expect.stringMatching(/^[A-Za-z0-9_-]{50,}$/),
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'mcp-ws-gateway', version: '0.1.0' } },
      },
    });
    const { requestState } = asked.result;
    const again = { inputResponses: { g1: result }, requestState };
    expect(await client.ask(call(2, tool, given, again))).toEqual(complete(2, result));
  });

  test.each([
    [
      'prompts/get',
      { name: 'a__asked' },
      { messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(ROOTS) } }] },
    ],
    ['resources/read', { uri: 'asking:r' }, { contents: [{ uri: 'asking:r', text: JSON.stringify(ROOTS) }] }],
  ])('may be asked for %s too', async (method, params, result) => {
    const client = await connect();
    const declaring = { capabilities: EVERYTHING };
    const { requestState } = inputRequired(await client.ask(modernRequest(1, method, params, declaring))).result;
    const again = { ...params, inputResponses: { g1: ROOTS }, requestState };
    expect(await client.ask(modernRequest(2, method, again, declaring))).toMatchObject({
      id: 2,
      result: { resultType: 'complete', ...result },
    });
  });

  test('of a client that declares nothing, it is told itself', async () => {
    const client = await connect();
    const frame = await client.ask(call(1, 'elicit', { message: 'm' }, {}, {}));
    expect(frame).toEqual(complete(1, { code: -32601, message: 'MCP error -32601: Method not found' }));
  });

  test('roots the client did not declare are refused, and the call goes on', async () => {
    const client = await connect();
    const frame = await client.ask(call(1, 'roots', {}, {}, { sampling: {} }));
    expect(frame).toEqual(complete(1, { code: -32601, message: 'MCP error -32601: Method not found' }));
  });

  test('is asked again until it is answered, each question under its own key', async () => {
    const client = await connect();
    const answers = new Map<string, object>();
    let frame = await client.ask(call(1, 'pair', { message: 'm' }));
    const nothing = { inputResponses: { g9: {} }, requestState: inputRequired(frame).result.requestState };
    frame = await client.ask(call(2, 'pair', { message: 'm' }, nothing));
    expect(inputRequired(frame).result.inputRequests).toHaveProperty('g1');
    let id = 2;
    while (isInputRequired(frame)) {
      id += 1;
      const { inputRequests, requestState } = frame.result;
      for (const [key, { method }] of Object.entries(inputRequests))
        answers.set(key, method === 'roots/list' ? ROOTS : ACCEPTED);
      const inputResponses = Object.fromEntries(answers);
      frame = await client.ask(call(id, 'pair', { message: 'm' }, { inputResponses, requestState }));
    }
    expect(frame).toEqual(complete(id, [ACCEPTED, ROOTS]));
    expect([...answers.keys()]).toEqual(['g1', 'g2']);
  });

  test('that it takes back is not waited for: the request, sent again, brings its end', async () => {
    const client = await connect();
    const timedOut = { code: -32001, message: 'MCP error -32001: Request timed out' };
    let id = 1;
    let frame = await client.ask(call(id, 'withdraw'));
    while (isInputRequired(frame)) {
      id += 1;
      frame = await client.ask(call(id, 'withdraw', {}, { requestState: frame.result.requestState }));
    }
    expect(id).toBeGreaterThan(1);
    expect(frame).toEqual(complete(id, timedOut));
  });

  test('it did not declare, it is told of', async () => {
    const client = await connect();
    const few = call(1, 'sample', { text: 'x' }, {}, { elicitation: {} });
    const message = 'The request needs a client capability that was not declared';
    expect(await client.ask(few)).toEqual(errorAnswer(1, -32021, message, { requiredCapabilities: { sampling: {} } }));
    const formOnly = call(2, 'visit', { url: 'https://a.example/' }, {}, { elicitation: { form: {} } });
    expect(await client.ask(formOnly)).toEqual(
      errorAnswer(2, -32021, message, { requiredCapabilities: { elicitation: { url: {} } } }),
    );
  });

  test('is a page to visit first where the upstream answers -32042', async () => {
    const client = await connect();
    const { inputRequests, requestState } = inputRequired(await client.ask(call(1, 'pay'))).result;
    expect(inputRequests).toEqual({
      g1: { method: 'elicitation/create', params: { mode: 'url', message: 'pay', url: 'https://pay.example/' } },
    });
    const again = { inputResponses: { g1: { action: 'accept' } }, requestState };
    expect(await client.ask(call(2, 'pay', {}, again))).toEqual(complete(2, 'paid'));
    expect(await client.ask(call(3, 'pay', {}, {}, { elicitation: { form: {} } }))).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
    });
    expect(await client.ask(call(4, 'pay', {}, again))).toEqual(gone(4));
  });
});

describe('the state of a call', () => {
  test('is good for one use', async () => {
    const client = await connect();
    const requestState = await stateOf(client, 1);
    const again = { inputResponses: { g1: ACCEPTED }, requestState };
    expect(await client.ask(call(2, 'elicit', { message: 'm' }, again))).toEqual(complete(2, ACCEPTED));
    expect(await client.ask(call(3, 'elicit', { message: 'm' }, again))).toEqual(gone(3));
  });

  test('is bound to the request: other arguments, another tool, a letter changed', async () => {
    const client = await connect();
    const requestState = await stateOf(client, 1);
    const again = (state: string) => ({ inputResponses: { g1: ACCEPTED }, requestState: state });
    const changed = requestState.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    expect(await client.ask(call(2, 'elicit', { message: 'n' }, again(requestState)))).toEqual(gone(2));
    expect(await client.ask(call(3, 'roots', { message: 'm' }, again(requestState)))).toEqual(gone(3));
    expect(await client.ask(call(4, 'elicit', { message: 'm' }, again(changed)))).toEqual(gone(4));
    expect(await client.ask(call(5, 'elicit', { message: 'm' }, again(requestState)))).toEqual(complete(5, ACCEPTED));
  });

  test('is not bound to what a request may say anew, but to its method', async () => {
    const client = await connect();
    const declaring = { capabilities: EVERYTHING };
    const params = { name: 'a__asked' };
    const first = inputRequired(await client.ask(modernRequest(1, 'prompts/get', params, declaring))).result;
    const again = { ...params, inputResponses: { g1: ROOTS }, requestState: first.requestState };
    expect(await client.ask(modernRequest(2, 'tools/call', again, declaring))).toMatchObject({
      error: { code: -32602 },
    });
    const otherwise = {
      capabilities: EVERYTHING,
      meta: { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'error' },
    };
    expect(await client.ask(modernRequest(3, 'prompts/get', again, otherwise))).toMatchObject({ id: 3, result: {} });
  });

  test('is bound to the client', async () => {
    const [one, two] = [await connect(), await connect()];
    const requestState = await stateOf(one, 1);
    const again = { inputResponses: { g1: ACCEPTED }, requestState };
    expect(await two.ask(call(1, 'elicit', { message: 'm' }, again))).toEqual(gone(1));
    expect(await one.ask(call(2, 'elicit', { message: 'm' }, again))).toEqual(complete(2, ACCEPTED));
  });

  test.each([
    [{ requestState: 5 }, '"requestState" must be a string'],
    [{ inputResponses: [] }, '"inputResponses" must be an object of objects'],
    [{ inputResponses: { g1: 'yes' } }, '"inputResponses" must be an object of objects'],
  ])('is not spent by %j', async (misfit, problem) => {
    const client = await connect();
    const requestState = await stateOf(client, 1);
    const wrong = { inputResponses: { g1: ACCEPTED }, requestState, ...misfit };
    expect(await client.ask(call(2, 'elicit', { message: 'm' }, wrong))).toEqual(
      errorAnswer(2, -32602, `Invalid params: ${problem}`),
    );
    const again = { inputResponses: { g1: ACCEPTED }, requestState };
    expect(await client.ask(call(3, 'elicit', { message: 'm' }, again))).toEqual(complete(3, ACCEPTED));
  });
});

describe('calls that wait for the client', () => {
  test('are at most four of one session, each on a link of its own', async () => {
    const client = await connect();
    const states = [];
    for (const id of [1, 2, 3, 4]) states.push(await stateOf(client, id, 'elicit', { message: `m${id}` }));
    expect(await client.ask(call(5, 'elicit', { message: 'm5' }))).toEqual(
      errorAnswer(5, -32603, 'The gateway is at capacity', {
        reason: 'at_capacity',
        retryable: true,
        retryAfterMs: 1000,
      }),
    );
    const again = { inputResponses: { g1: ACCEPTED }, requestState: states[2] };
    expect(await client.ask(call(6, 'elicit', { message: 'm3' }, again))).toEqual(complete(6, ACCEPTED));
    expect(await client.ask(call(7, 'declared'))).toMatchObject({ id: 7, result: { resultType: 'complete' } });
  });

  test('count as in flight', async () => {
    const { url, ready } = await startGateway({ limits: { inFlight: 2 }, mcpServers: { a: asking } });
    await ready();
    const client = await connect(url);
    const requestState = await stateOf(client, 1);
    await stateOf(client, 2, 'elicit', { message: 'n' });
    expect(await client.ask(call(3, 'declared'))).toMatchObject({
      id: 3,
      error: { code: -32603, data: { reason: 'too_many_in_flight' } },
    });
    expect(requestState).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  test('end with the client: nothing is left of their links', async () => {
    const { url, ready, metrics } = await startGateway({ mcpServers: { a: asking } });
    await ready();
    const client = await connect(url);
    await stateOf(client, 1);
    expect(links(await metrics())).toBe(1);
    client.socket.close();
    await vi.waitFor(async () => expect(links(await metrics())).toBe(0), PATIENT);
  });

  test('do not hold up a shutdown', async () => {
    const { url, ready, close } = await startGateway({ mcpServers: { a: asking } });
    await ready();
    const client = await connect(url);
    await stateOf(client, 1);
    await close();
    expect(await client.closed).toEqual(DRAINED);
  });

  test('and one that is cancelled leaves no link for the next to use', async () => {
    const { url, ready, metrics } = await startGateway({ mcpServers: { a: asking } });
    await ready();
    const client = await connect(url);
    client.send(call(1, 'hang'));
    await vi.waitFor(() => expect(record.lines()).toContain('hanging'), PATIENT);
    expect(links(await metrics())).toBe(1);
    client.send(cancellation(1));
    await vi.waitFor(async () => expect(links(await metrics())).toBe(0), PATIENT);
    expect(await client.ask(call(2, 'declared'))).toMatchObject({ id: 2, result: { resultType: 'complete' } });
  });
});

function links(metrics: string): number | undefined {
  return sampleValue(parseMetrics(metrics), 'mcp_gateway_links', { upstream: 'a', isolation: 'session' });
}
