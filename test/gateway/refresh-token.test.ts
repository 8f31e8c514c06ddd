import { describe, expect, test } from 'vitest';
import { recordFile } from '../support/file-gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { offering, scriptedUpstream } from '../support/scripted-upstream.ts';
import { refresh, secondsAfter, tokenGateway } from '../support/token-gateway.ts';

const EXPIRED = { code: 4401, reason: 'unauthenticated' };
const renewed = (id: string | number, seconds: number) => ({
  jsonrpc: '2.0',
  id,
  result: { expiresAt: secondsAfter(seconds) },
});

/** An upstream whose tool `run` answers at once, and whose `hold` answers when told. */
async function upstream() {
  const held: (() => void)[] = [];
  const up = await scriptedUpstream({
    ...offering('run', 'hold', 'admin'),
    'tools/call': ({ params, result }) => {
      const answer = () => result({ content: [{ type: 'text', text: String(params.name) }] });
      if (params.name === 'hold') held.push(answer);
      else answer();
    },
  });
  return { ...up, held };
}

describe('a fresh token', () => {
  test('takes the place of the old one: its end counts, and it may come again after 30 s', async () => {
    const { clock, open, token } = await tokenGateway();
    const client = await open(300);
    clock.advance(290_000);
    expect(await client.ask(refresh('r', await token(100)))).toEqual(renewed('r', 390));
    clock.advance(30_000);
    expect(await client.barrier()).toEqual([]);
    expect(await client.ask(refresh(0, await token(300)))).toEqual(renewed(0, 620));
    clock.advance(299_999);
    expect(await client.barrier()).toEqual([]);
    clock.advance(1);
    expect(await client.closed).toEqual(EXPIRED);
  });

  test('counts also where it ends before the old one', async () => {
    const { clock, open, token } = await tokenGateway();
    const client = await open(300);
    expect(await client.ask(refresh(1, await token(60)))).toEqual(renewed(1, 60));
    clock.advance(60_000);
    expect(await client.closed).toEqual(EXPIRED);
  });

  test('is taken in the modern era, as an answer of that era', async () => {
    const { clock, connect, token } = await tokenGateway();
    const client = await connect(300);
    const params = { token: await token(600) };
    expect(await client.ask(modernRequest(1, 'ws-gateway/refreshToken', params))).toMatchObject({
      id: 1,
      result: { resultType: 'complete', expiresAt: secondsAfter(600) },
    });
    clock.advance(599_000);
    expect(await client.ask(modernRequest(2, 'server/discover'))).toMatchObject({ id: 2, result: {} });
  });

  test('brings its roles, and the view with them', async () => {
    const up = await upstream();
    const { open, token } = await tokenGateway({
      mcpServers: { up: up.entry },
      policy: [
        { roles: ['user'], allow: { tools: ['up/run'] } },
        { roles: ['admin'], allow: { tools: ['up/admin'] } },
      ],
    });
    const client = await open(300, { roles: ['user'] });
    expect(await client.ask(toolCall(1, 'up__admin'))).toEqual(errorAnswer(1, -32602, 'Unknown tool: up__admin'));
    client.send(refresh(2, await token(600, { roles: ['user', 'admin'] })));
    expect(await client.json()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(await client.json()).toEqual(renewed(2, 600));
    expect(await client.ask(toolCall(3, 'up__admin'))).toEqual(textAnswer(3, 'admin'));
    expect(await client.ask({ jsonrpc: '2.0', id: 4, method: 'tools/list' })).toMatchObject({
      result: { tools: [{ name: 'up__admin' }, { name: 'up__run' }] },
    });
  });

  test('that changes nothing tells of no change and leaves calls alone', async () => {
    const up = await upstream();
    const { open, token } = await tokenGateway({ mcpServers: { up: up.entry } });
    const client = await open(300, { roles: ['a'] });
    client.send(toolCall(1, 'up__hold'));
    await expect.poll(() => up.held.length).toBe(1);
    expect(await client.ask(refresh(2, await token(600, { roles: ['b'] })))).toEqual(renewed(2, 600));
    up.held[0]?.();
    expect(await client.json()).toEqual(textAnswer(1, 'hold'));
  });

  test('is taken with all calls in flight', async () => {
    const up = await upstream();
    const { open, token } = await tokenGateway({ mcpServers: { up: up.entry }, limits: { inFlight: 1 } });
    const client = await open(300);
    client.send(toolCall(1, 'up__hold'));
    expect(await client.ask(toolCall(2, 'up__run'))).toHaveProperty('error.data.reason', 'too_many_in_flight');
    expect(await client.ask(refresh(3, await token(600)))).toEqual(renewed(3, 600));
  });
});

const audited = recordFile();

test('log, metrics and audit tell of each judged token, which is in none of them', async () => {
  const { open, token, log, metrics, issuer } = await tokenGateway({ audit: { sink: { file: audited.path } } });
  const client = await open(300);
  const fresh = await token(600);
  await client.ask(refresh('the-id', fresh));
  expect(log.filter(({ event }) => event === 'token_renewed')).toEqual([
    {
      level: 'info',
      event: 'token_renewed',
      fields: { session: expect.any(String), request: 'the-id', issuer: issuer.issuer, id: 'alice' },
    },
  ]);
  expect(await metrics()).toContain(
    'mcp_gateway_auth_total{issuer="https://idp.example.com/",outcome="accepted",reason=""} 2',
  );
  const other = await open(300, { sub: 'bob' });
  await other.ask(refresh(2, fresh));
  await expect.poll(() => audited.lines().length).toBe(4);
  const [alice, bob] = log.filter(({ event }) => event.startsWith('token_')).map(({ fields }) => fields.session);
  const line = { time: secondsAfter(0), event: 'auth', issuer: issuer.issuer, address: '127.0.0.1', via: 'websocket' };
  expect(audited.lines().map((text) => JSON.parse(text))).toEqual([
    { ...line, session: alice, request: alice, id: 'alice', decision: 'allow' },
    { ...line, session: alice, request: alice, id: 'alice', decision: 'allow' },
    { ...line, session: bob, request: bob, id: 'bob', decision: 'allow' },
    { ...line, request: bob, id: 'bob', decision: 'deny', reason: 'other_principal' },
  ]);
  const secret = fresh.split('.')[2];
  expect(JSON.stringify(log) + audited.lines().join()).not.toContain(secret);
});
