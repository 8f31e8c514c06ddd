import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway } from '../support/gateway.ts';
import { answerJson, answerStatus, openHttpUpstream } from '../support/http-upstream.ts';
import { errorAnswer } from '../support/messages.ts';
import { inputRequired, modernRequest } from '../support/modern-messages.ts';
import { modernScript } from '../support/modern-script.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { type Asked, offering, type Script, scriptedUpstream } from '../support/scripted-upstream.ts';

const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };
const ELICITATION = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: FORM };
const GONE = { code: -32602, data: { reason: 'state_gone' } };
/** After which a session's link without a call is closed. */
const IDLE_MS = 300_000;
const PATIENT = { timeout: 10_000 };

async function clientOf(
  script: Script,
  more: object = {},
): Promise<{ client: RawClient; metrics: () => Promise<string> }> {
  const { entry } = await scriptedUpstream(script);
  const { url, ready, metrics } = await startGateway({ ...more, mcpServers: { a: entry } });
  await ready();
  return { client: await connectRaw(url), metrics };
}

function call(id: number, more: object = {}, capabilities: object = EVERYTHING, tool = 'act') {
  return modernRequest(id, 'tools/call', { name: `a__${tool}`, arguments: {}, ...more }, { capabilities });
}

describe('a modern upstream whose questions different readers take for different ones', () => {
  const FORM_TEXT = JSON.stringify(FORM).slice(1);
  test.each([
    ['a method twice', `{"method":"elicitation/create","params":{${FORM_TEXT},"method":"sampling/createMessage"}`],
    [
      'a mode twice',
      `{"method":"elicitation/create","params":{"mode":"form","mode":"url","url":"https://e.example/",${FORM_TEXT}}`,
    ],
    [
      'a mode in another case',
      `{"method":"elicitation/create","params":{"Mode":"url","url":"https://e.example/",${FORM_TEXT}}`,
    ],
    ['a key twice', `{"method":"roots/list"},"q":{"method":"roots/list"}`],
  ])('is refused: %s', async (_name, question) => {
    const text = `{"resultType":"input_required","inputRequests":{"q":${question}}}`;
    const { client } = await clientOf(modernScript({ tools: {} }, { 'tools/call': ({ result }) => result(text) }));
    const frame = await client.ask(call(1, {}, { elicitation: { form: {} }, roots: {} }));
    expect(frame).toMatchObject({ id: 1, error: { code: -32603, data: { reason: 'too_large' } } });
  });
});

describe('a handshake upstream', () => {
  test('that writes what only the gateway may is refused', async () => {
    const said: ((asked: Asked) => void)[] = [
      ({ result }) =>
        result({ resultType: 'input_required', inputRequests: { q: { method: 'roots/list' } }, requestState: 's' }),
      ({ error }) => error({ code: -32022, message: 'x', data: { supported: ['2025-11-25'] } }),
      ({ error }) => error({ code: -32020, message: 'x' }),
    ];
    const script = { ...offering('act'), 'tools/call': (asked: Asked) => said.shift()?.(asked) };
    const { client } = await clientOf(script);
    for (const id of [1, 2, 3])
      expect(await client.ask(call(id, {}, {}))).toMatchObject({
        id,
        error: { code: -32603, data: { reason: 'too_large' } },
      });
  });

  test('asks for a task: the client is asked without one', async () => {
    const asks = { ...ELICITATION, params: { ...FORM, task: { ttl: 1 } } };
    const { client } = await clientOf({ ...offering('act'), 'tools/call': ({ link }) => link.send(asks) });
    const { inputRequests } = inputRequired(await client.ask(call(1))).result;
    expect(inputRequests).toEqual({ g1: { method: 'elicitation/create', params: FORM } });
  });

  test('is not put to a client that declares less when it comes back', async () => {
    const { client } = await clientOf({ ...offering('act'), 'tools/call': ({ link }) => link.send(ELICITATION) });
    const { requestState } = inputRequired(await client.ask(call(1))).result;
    const data = { requiredCapabilities: { elicitation: { form: {} } } };
    expect(await client.ask(call(2, { requestState }, { roots: {} }))).toEqual(
      errorAnswer(2, -32021, 'The request needs a client capability that was not declared', data),
    );
  });
});

test('the request that brings the answers has the place of the call it takes up', async () => {
  const script = { ...offering('act'), 'tools/call': ({ link }: Asked) => link.send(ELICITATION) };
  const { client } = await clientOf(script, { limits: { inFlight: 1 } });
  const { requestState } = inputRequired(await client.ask(call(1))).result;
  expect(await client.ask(call(2))).toMatchObject({ id: 2, error: { data: { reason: 'too_many_in_flight' } } });
  expect(inputRequired(await client.ask(call(3, { requestState }))).id).toBe(3);
});

test('a state brought while the upstream is away is not spent', async () => {
  let away = false;
  const clock = fakeClock();
  const complete = { resultType: 'complete', content: [] };
  const asks = { resultType: 'input_required', inputRequests: { q: { method: 'roots/list' } }, requestState: 's' };
  const script = modernScript(
    { tools: {} },
    {
      'tools/call': ({ params, result }) => result(params.requestState === 's' ? complete : asks),
    },
  );
  const discover = script['server/discover'];
  const { entry } = await scriptedUpstream({
    ...script,
    'server/discover': (asked) => (away ? asked.error({ code: -32603, message: 'away' }) : discover?.(asked)),
  });
  const gateway = await startGateway({ limits: { pingInterval: '60m' }, mcpServers: { a: entry } }, clock);
  await gateway.ready();
  const client = await connectRaw(gateway.url);
  const { requestState } = inputRequired(await client.ask(call(1))).result;
  clock.advance(IDLE_MS);
  await vi.waitFor(async () => expect(links(await gateway.metrics())).toBe(0), PATIENT);
  away = true;
  const again = { requestState, inputResponses: { q: { roots: [] } } };
  expect(await client.ask(call(2, again))).toMatchObject({ error: { data: { reason: 'upstream_unavailable' } } });
  away = false;
  expect(await client.ask(call(3, again))).toMatchObject({ id: 3, result: complete });
  expect(await client.ask(call(4, again))).toMatchObject({ id: 4, error: GONE });
});

test('of calls that ended unheard the last four are kept', async () => {
  let end = () => {};
  const script = {
    ...offering('act', 'end'),
    'tools/call': ({ params, link, result }: Asked) => {
      const done = () => result({ content: [{ type: 'text', text: 'over' }] });
      if (params.name === 'act') link.send(ELICITATION);
      if (params.name === 'act') end = done;
      else {
        end();
        done();
      }
    },
  };
  const { client, metrics } = await clientOf(script);
  const states: string[] = [];
  for (const at of [0, 1, 2, 3, 4]) {
    states.push(inputRequired(await client.ask(call(at, { arguments: { at } }))).result.requestState);
    expect(await client.ask(call(10, {}, {}, 'end'))).toMatchObject({ id: 10, result: {} });
    await vi.waitFor(async () => expect(links(await metrics())).toBe(1), PATIENT);
  }
  const back = (at: number) => client.ask(call(20 + at, { arguments: { at }, requestState: states[at] }));
  expect(await back(0)).toMatchObject({ id: 20, error: GONE });
  for (const at of [1, 4]) expect(await back(at)).toMatchObject({ result: { content: [{ text: 'over' }] } });
});

test('a call that was not taken and is sent again is answered, also if the new session asks first', async () => {
  let sessions = 0;
  let calls = 0;
  const { url, close } = await openHttpUpstream(({ method, headers, body, response }) => {
    if (method !== 'POST') return answerStatus(response, 405);
    const { id, method: asked } = JSON.parse(body);
    const message = (result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });
    if (asked === 'initialize') {
      sessions += 1;
      const opened = message({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      });
      const session = { 'mcp-session-id': `s${sessions}` };
      if (sessions < 3) return answerJson(response, opened, session);
      response.writeHead(200, { 'content-type': 'text/event-stream', ...session });
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 'r', method: 'roots/list' })}\n\n`);
      return void response.end(`data: ${opened}\n\n`);
    }
    if (asked === 'tools/list')
      return answerJson(response, message({ tools: [{ name: 'act', inputSchema: { type: 'object' } }] }));
    if (asked === 'server/discover') return answerStatus(response, 400);
    if (asked !== 'tools/call') return answerStatus(response, 202);
    calls += 1;
    if (headers['mcp-session-id'] === 's2') return answerStatus(response, 404);
    return answerJson(response, message({ content: [] }));
  });
  onTestFinished(close);
  const gateway = await startGateway({ mcpServers: { a: { url } } });
  await gateway.ready();
  const client = await connectRaw(gateway.url);
  const { requestState } = inputRequired(await client.ask(call(1))).result;
  const answers = { g1: { roots: [] } };
  expect(await client.ask(call(2, { requestState, inputResponses: answers }))).toMatchObject({
    id: 2,
    result: { content: [] },
  });
  expect(calls).toBe(2);
});

function links(metrics: string): number | undefined {
  return sampleValue(parseMetrics(metrics), 'mcp_gateway_links', { upstream: 'a', isolation: 'session' });
}
