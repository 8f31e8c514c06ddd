import { beforeEach, describe, expect, test, vi } from 'vitest';
import { KitReport } from '../kits/kit-report.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { cancellation, errorAnswer, toolCall } from '../support/messages.ts';
import { type InputRequired, inputRequired, modernRequest } from '../support/modern-messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';
import { makeIssuer } from '../support/tokens.ts';

/** Every question a server can ask, every way it can end, between the eras in both directions. */
const ENDINGS = ['accept', 'decline', 'cancel', 'client leaves', 'tampered', 'other principal', 'expired'] as const;
type Ending = (typeof ENDINGS)[number];

interface Question {
  readonly name: string;
  readonly tool: string;
  readonly given: object;
  readonly method: string;
  readonly accepted: object;
  /** Absent where the result of this question can only be an answer. */
  readonly otherwise?: (action: 'decline' | 'cancel') => object;
}

const ACTION = (action: 'decline' | 'cancel') => ({ action });
const QUESTIONS: readonly Question[] = [
  {
    name: 'elicit form',
    tool: 'elicit',
    given: { message: 'm' },
    method: 'elicitation/create',
    accepted: { action: 'accept', content: { n: 7 } },
    otherwise: ACTION,
  },
  {
    name: 'elicit url',
    tool: 'visit',
    given: { url: 'https://a.example/' },
    method: 'elicitation/create',
    accepted: { action: 'accept' },
    otherwise: ACTION,
  },
  {
    name: 'sampling',
    tool: 'sample',
    given: { text: 'hi' },
    method: 'sampling/createMessage',
    accepted: { model: 'm', role: 'assistant', content: { type: 'text', text: 'ho' } },
  },
  { name: 'roots', tool: 'roots', given: {}, method: 'roots/list', accepted: { roots: [{ uri: 'file:///x' }] } },
];

const TEN_MINUTES = 600_000;
const PATIENCE = { timeout: 20_000 };
const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const clock = fakeClock();
const issuer = await makeIssuer();
const record = recordFile();
const gateway = fileGateway(
  {
    auth: {
      mode: 'jwt',
      resource: issuer.audience,
      issuers: [{ issuer: issuer.issuer, algorithms: ['HS256'], keys: { secret: issuer.secret } }],
    },
    policy: 'allow-authenticated',
    // Time stands still: nobody's turn to start a process would come.
    limits: { pingInterval: '60m', childStartsPerSecond: 1000 },
    mcpServers: {
      h: stdioUpstream('asking.mjs', [record.path], { timeout: '30m', maxTimeout: '30m' }),
      m: stdioUpstream('modern-asking.mjs'),
    },
  },
  clock,
);

async function headers(sub: string) {
  const token = await issuer.sign({ sub, exp: Math.floor(clock.now() / 1000) + 7200 }, { now: clock.now() });
  return { headers: { authorization: `Bearer ${token}` } };
}

async function links(upstream: string): Promise<number | undefined> {
  return sampleValue(parseMetrics(await gateway().metrics()), 'mcp_gateway_links', { upstream, isolation: 'session' });
}

async function leavesNothing(client: RawClient, upstream: string): Promise<void> {
  client.socket.close();
  await vi.waitFor(async () => expect(await links(upstream)).toBe(0), PATIENCE);
}

type Cells = Readonly<Record<Ending, () => Promise<void>>>;

/** A modern client of a handshake upstream: the question is the call's answer, the answer comes with the call sent again. */
function inAnswers({ tool, given, method, accepted, otherwise }: Question): Cells {
  const open = async (who = 'alice') => connectRaw(gateway().url, await headers(who));
  const call = (id: number, more: object = {}) =>
    modernRequest(id, 'tools/call', { name: `h__${tool}`, arguments: given, ...more }, { capabilities: EVERYTHING });
  const asked = async (client: RawClient, id = 1): Promise<InputRequired['result']> => {
    const { result } = inputRequired(await client.ask(call(id)));
    expect(result.inputRequests).toMatchObject({ g1: { method } });
    return result;
  };
  const again = (id: number, answer: object, requestState: string) =>
    call(id, { inputResponses: { g1: answer }, requestState });
  const finished = (id: number, value: object) => ({
    id,
    result: { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(value) }] },
  });
  const gone = (id: number) =>
    errorAnswer(id, -32602, 'The request state is no longer valid', { reason: 'state_gone', retryable: false });
  const brought = async (answer: object) => {
    const client = await open();
    const { requestState } = await asked(client);
    expect(await client.ask(again(2, answer, requestState))).toMatchObject(finished(2, answer));
  };
  return {
    accept: () => brought(accepted),
    decline: async () => {
      if (otherwise !== undefined) return brought(otherwise('decline'));
      const client = await open();
      const { requestState } = await asked(client);
      const empty = inputRequired(await client.ask(call(2, { inputResponses: {}, requestState })));
      expect(empty.result.inputRequests).toMatchObject({ g1: { method } });
    },
    cancel: async () => {
      if (otherwise !== undefined) return brought(otherwise('cancel'));
      const client = await open();
      client.send(call(1));
      client.send(cancellation(1));
      expect(inputRequired(await client.ask(call(2))).id).toBe(2);
    },
    'client leaves': async () => {
      const client = await open();
      const { requestState } = await asked(client);
      await leavesNothing(client, 'h');
      expect(await (await open()).ask(again(1, accepted, requestState))).toEqual(gone(1));
    },
    tampered: async () => {
      const client = await open();
      const { requestState } = await asked(client);
      const changed = requestState.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
      expect(await client.ask(again(2, accepted, changed))).toEqual(gone(2));
      expect(await client.ask(again(3, accepted, requestState))).toMatchObject(finished(3, accepted));
    },
    'other principal': async () => {
      const [client, other] = [await open(), await open('bob')];
      const { requestState } = await asked(client);
      expect(await other.ask(again(1, accepted, requestState))).toEqual(gone(1));
      expect(await client.ask(again(2, accepted, requestState))).toMatchObject(finished(2, accepted));
    },
    expired: async () => {
      const client = await open();
      const { requestState } = await asked(client);
      clock.advance(TEN_MINUTES);
      expect(await client.ask(again(2, accepted, requestState))).toEqual(gone(2));
      await vi.waitFor(async () => expect(await links('h')).toBe(0), PATIENCE);
    },
  };
}

/** A handshake client of a modern upstream: the question is a request to the client, the call one request throughout. */
function asRequests({ tool, given, method, accepted, otherwise }: Question): Cells {
  const open = async (who = 'alice') => openRaw(gateway().url, await headers(who), EVERYTHING);
  const asked = async (client: RawClient) => {
    expect(await client.ask(toolCall(1, `m__${tool}`, given))).toMatchObject({ id: 'g1', method });
  };
  const answer = (id: string | number, result: object) => ({ jsonrpc: '2.0', id, result });
  const finished = (value: object) => ({
    id: 1,
    result: { content: [{ type: 'text', text: JSON.stringify(value) }] },
  });
  const brought = async (result: object) => {
    const client = await open();
    await asked(client);
    expect(await client.ask(answer('g1', result))).toMatchObject(finished(result));
  };
  return {
    accept: () => brought(accepted),
    decline: async () => {
      if (otherwise !== undefined) return brought(otherwise('decline'));
      const client = await open();
      await asked(client);
      const error = { code: -1, message: 'rejected by the user' };
      expect(await client.ask({ jsonrpc: '2.0', id: 'g1', error })).toEqual(errorAnswer(1, -1, 'rejected by the user'));
    },
    cancel: async () => {
      if (otherwise !== undefined) return brought(otherwise('cancel'));
      const client = await open();
      await asked(client);
      expect(await client.ask(cancellation(1))).toMatchObject({ params: { requestId: 'g1' } });
      expect(await client.barrier()).toEqual([]);
    },
    'client leaves': async () => {
      const client = await open();
      await asked(client);
      await leavesNothing(client, 'm');
    },
    tampered: async () => {
      const client = await open();
      await asked(client);
      for (const id of ['g2', 'G1', 1, 'g01']) client.send(answer(id, accepted));
      expect(await client.barrier()).toEqual([]);
      expect(await client.ask(answer('g1', accepted))).toMatchObject(finished(accepted));
    },
    'other principal': async () => {
      const [client, other] = [await open(), await open('bob')];
      await asked(client);
      other.send(answer('g1', { action: 'decline' }));
      expect(await other.barrier()).toEqual([]);
      expect(await client.ask(answer('g1', accepted))).toMatchObject(finished(accepted));
    },
    expired: async () => {
      const client = await open();
      await asked(client);
      clock.advance(TEN_MINUTES);
      const frames = [await client.json(), await client.json()];
      expect(frames).toContainEqual(
        errorAnswer(1, -32603, 'The upstream did not answer in time', { reason: 'timeout', retryable: false }),
      );
      expect(frames).toContainEqual(expect.objectContaining({ method: 'notifications/cancelled' }));
      client.send(answer('g1', accepted));
      expect(await client.barrier()).toEqual([]);
    },
  };
}

test('a call that has waited for a minute makes room for another, one that waits less does not', async () => {
  const client = await connectRaw(gateway().url, await headers('carol'));
  const call = (id: number, more: object = {}) =>
    modernRequest(
      id,
      'tools/call',
      { name: 'h__elicit', arguments: { message: String(id) }, ...more },
      { capabilities: EVERYTHING },
    );
  const states: string[] = [];
  for (const id of [1, 2, 3, 4]) states.push(inputRequired(await client.ask(call(id))).result.requestState);
  clock.advance(59_999);
  expect(await client.ask(call(5))).toMatchObject({ id: 5, error: { data: { reason: 'at_capacity' } } });
  clock.advance(1);
  expect(inputRequired(await client.ask(call(6))).id).toBe(6);
  const again = (id: number) => ({ inputResponses: { g1: { action: 'decline' } }, requestState: states[id - 1] });
  expect(await client.ask(call(1, again(1)))).toMatchObject({ id: 1, error: { data: { reason: 'state_gone' } } });
  expect(await client.ask(call(2, again(2)))).toMatchObject({ id: 2, result: { resultType: 'complete' } });
});

const DIRECTIONS = [
  ['modern client, handshake upstream', inAnswers],
  ['handshake client, modern upstream', asRequests],
] as const;
const ROWS = DIRECTIONS.flatMap(([direction, cellsOf]) =>
  QUESTIONS.map((question) => [`${direction}: ${question.name}`, cellsOf(question)] as const),
);
const report = new KitReport(
  ROWS.map(([row]) => row),
  ENDINGS,
);

describe.each(ROWS)('%s', (row, cells) => {
  beforeEach(({ task }) => report.ran(row, task.name, task));

  test.each(ENDINGS)('%s', async (ending) => {
    await cells[ending]();
  });
});

test('every cell has run and passed', () => {
  process.stdout.write(`\nTranslation between the eras, ${ROWS.length * ENDINGS.length} cells\n${report.text}\n`);
  expect(report.missing).toEqual([]);
});
