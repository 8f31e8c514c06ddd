import { describe, expect, test } from 'vitest';
import { type EraClient, openEra } from '../../support/era-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';
import { type Asked, offering, type ScriptedLink, scriptedUpstream } from '../../support/scripted-upstream.ts';
import { type StatelessAsked, statelessTools, statelessUpstream } from '../../support/stateless-upstream.ts';
import { makeIssuer } from '../../support/tokens.ts';

const question = (given: unknown) => ({
  message: JSON.stringify(given),
  requestedSchema: { type: 'object', properties: {} },
});
const answersOn = (link: ScriptedLink) => link.heard.filter((message) => message.method === undefined);
const accept = { action: 'accept', content: { secret: 'a' } };
const decline = { action: 'decline' };
const answer = (id: string | number, result: object) => ({ jsonrpc: '2.0', id, result });

describe('between two handshake peers', () => {
  /** Every call has its upstream ask, under the same id on every link. */
  const asks = ({ params, link }: Asked) =>
    link.send({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: question(params.arguments) });
  const script = { ...offering('ask'), 'tools/call': asks };

  test('what an upstream asks in a call reaches its caller alone, and only the caller’s answer reaches the upstream', async () => {
    const own = await scriptedUpstream(script);
    const all = await scriptedUpstream(script, { isolation: 'shared' });
    const { url, ready } = await startGateway({ mcpServers: { own: own.entry, all: all.entry } });
    await ready();
    const callers = () => own.links.filter(({ heard }) => heard.some(({ method }) => method === 'tools/call'));
    const open = () => openRaw(url, {}, { elicitation: {} });
    const [a, b, idle] = [await open(), await open(), await open()];

    expect(await a.ask(toolCall(1, 'own__ask', { who: 'a' }))).toEqual({
      jsonrpc: '2.0',
      id: 'g1',
      method: 'elicitation/create',
      params: question({ who: 'a' }),
    });
    expect([await b.barrier(), await idle.barrier()]).toEqual([[], []]);
    for (const stolen of ['g1', 1, 'g0', 'g2']) b.send(answer(stolen, accept));
    expect(await b.barrier()).toEqual([]);
    expect(own.links.flatMap(answersOn)).toEqual([]);

    expect(await b.ask(toolCall(1, 'own__ask', { who: 'b' }))).toMatchObject({
      id: 'g1',
      params: question({ who: 'b' }),
    });
    b.send(answer('g1', decline));
    await expect.poll(() => callers().map(answersOn)).toEqual([[], [answer(1, decline)]]);
    a.send(answer('g1', accept));
    await expect.poll(() => callers().map(answersOn)).toEqual([[answer(1, accept)], [answer(1, decline)]]);

    a.send(toolCall(2, 'all__ask'));
    await expect
      .poll(() => all.links.flatMap(answersOn))
      .toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32601, message: expect.any(String) } }]);
    expect([await a.barrier(), await b.barrier(), await idle.barrier()]).toEqual([[], [], []]);
  });
});

describe('from a handshake upstream to a modern client', () => {
  const gone = { code: -32602, data: { reason: 'state_gone' } };

  interface Required {
    readonly result: { readonly inputRequests: Readonly<Record<string, unknown>>; readonly requestState: string };
  }

  test('what an upstream asks in a call reaches its caller alone, and only the caller’s answer reaches the upstream', async () => {
    const calls: Asked[] = [];
    const up = await scriptedUpstream({
      ...offering('ask'),
      'tools/call': (asked) => {
        calls.push(asked);
        const params = question(asked.params.arguments);
        asked.link.send({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params });
      },
    });
    const issuer = await makeIssuer();
    const { secret, audience, issuer: name } = issuer;
    const { url, ready } = await startGateway({
      auth: { mode: 'jwt', resource: audience, issuers: [{ issuer: name, keys: { secret } }] },
      policy: [{ allow: { tools: ['**'] } }],
      mcpServers: { up: up.entry },
    });
    await ready();
    const open = async (sub: string) =>
      openEra(
        'modern',
        url,
        { elicitation: {} },
        { headers: { authorization: `Bearer ${await issuer.sign({ sub })}` } },
      );
    const [alice, bob, again] = [await open('alice'), await open('bob'), await open('alice')];
    const call = (who: string, more: object = {}) => ({ name: 'up__ask', arguments: { who }, ...more });
    const ask = async (client: EraClient, who: string) => {
      const answer = (await client.ask(1, 'tools/call', call(who))) as Required;
      expect(answer).toMatchObject({
        id: 1,
        result: { resultType: 'input_required', requestState: expect.any(String) },
      });
      const [[key = '', asked] = []] = Object.entries(answer.result.inputRequests);
      expect(asked).toEqual({ method: 'elicitation/create', params: question({ who }) });
      return { key, requestState: answer.result.requestState };
    };

    const hers = await ask(alice, 'a');
    const retry = call('a', { inputResponses: { [hers.key]: accept }, requestState: hers.requestState });
    for (const thief of [bob, again]) {
      expect(await thief.ask(2, 'tools/call', retry)).toMatchObject({ id: 2, error: gone });
    }
    const middle = hers.requestState.length >> 1;
    const other = hers.requestState[middle] === 'A' ? 'B' : 'A';
    const tampered = `${hers.requestState.slice(0, middle)}${other}${hers.requestState.slice(middle + 1)}`;
    expect(await alice.ask(2, 'tools/call', { ...retry, requestState: tampered })).toMatchObject({
      id: 2,
      error: gone,
    });
    expect(await alice.ask(3, 'tools/call', { ...retry, arguments: { who: 'x' } })).toMatchObject({
      id: 3,
      error: gone,
    });
    expect(up.links.flatMap(answersOn)).toEqual([]);

    const his = await ask(bob, 'b');
    const bobs = call('b', { inputResponses: { [his.key]: decline }, requestState: his.requestState });
    alice.raw.send(alice.request(4, 'tools/call', retry));
    bob.raw.send(bob.request(4, 'tools/call', bobs));
    const [first, second] = calls;
    const heard = (asked: Asked | undefined) => (asked === undefined ? [] : answersOn(asked.link));
    await expect.poll(() => heard(first)).toEqual([{ jsonrpc: '2.0', id: 1, result: accept }]);
    await expect.poll(() => heard(second)).toEqual([{ jsonrpc: '2.0', id: 1, result: decline }]);
    first?.result({ content: [], who: 'a' });
    second?.result({ content: [], who: 'b' });
    expect(await alice.raw.json()).toEqual(alice.result(4, { content: [], who: 'a' }));
    expect(await bob.raw.json()).toEqual(bob.result(4, { content: [], who: 'b' }));
    expect(await alice.ask(5, 'tools/call', retry)).toMatchObject({ id: 5, error: gone });
    expect([await alice.pending(), await bob.pending(), await again.pending()]).toEqual([[], [], []]);
  });
});

describe('from a modern upstream to a handshake client', () => {
  /** Needs to be told something before it answers with what it was told. */
  function needs({ params, result }: StatelessAsked): void {
    const { inputResponses, requestState, arguments: given } = params;
    if (inputResponses === undefined) {
      const inputRequests = { q: { method: 'elicitation/create', params: question(given) } };
      return result({ resultType: 'input_required', inputRequests, requestState: `of ${JSON.stringify(given)}` });
    }
    result({ content: [{ type: 'text', text: JSON.stringify([given, inputResponses, requestState]) }] });
  }

  test('what an upstream asks in a call reaches its caller alone, and only the caller’s answer reaches the upstream', async () => {
    const up = await statelessUpstream({ ...statelessTools('ask'), 'tools/call': needs });
    const { url, ready } = await startGateway({ mcpServers: { up: up.entry } });
    await ready();
    const open = () => openRaw(url, {}, { elicitation: {} });
    const [a, b, idle] = [await open(), await open(), await open()];
    for (const [client, who] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      expect(await client.ask(toolCall(1, 'up__ask', { who }))).toEqual({
        jsonrpc: '2.0',
        id: 'g1',
        method: 'elicitation/create',
        params: question({ who }),
      });
    }
    expect(await idle.barrier()).toEqual([]);
    idle.send({ jsonrpc: '2.0', id: 'g1', result: { action: 'cancel' } });
    expect(await idle.barrier()).toEqual([]);
    const told = (who: string, q: object) =>
      textAnswer(1, JSON.stringify([{ who }, { q }, `of ${JSON.stringify({ who })}`]));
    expect(await b.ask({ jsonrpc: '2.0', id: 'g1', result: decline })).toMatchObject(told('b', decline));
    expect(await a.ask({ jsonrpc: '2.0', id: 'g1', result: accept })).toMatchObject(told('a', accept));
    expect([await a.barrier(), await b.barrier(), await idle.barrier()]).toEqual([[], [], []]);
  });
});
