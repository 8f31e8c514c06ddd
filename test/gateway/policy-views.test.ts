import { describe, expect, test } from 'vitest';
import { fileGateway, type RecordFile, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { makeIssuer } from '../support/tokens.ts';

const issuer = await makeIssuer();
const one = recordFile();
const two = recordFile();
const shared = { isolation: 'shared' };
const gateway = fileGateway({
  auth: {
    mode: 'jwt',
    resource: issuer.audience,
    issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
  },
  policy: [
    { roles: ['reader'], allow: { tools: ['one/echo', 'one/pid'] } },
    { roles: ['worker'], allow: { upstreams: ['two'], tools: ['**'] } },
    { deny: { tools: ['*/big', '*/wait', '*/late', '*/hold', '*/release', '*/beat', '*/environment'] } },
    { roles: ['reader'], when: 'arguments.text == "secret"', deny: { tools: ['one/echo'] } },
  ],
  mcpServers: {
    one: stdioUpstream('plain.mjs', [one.path], shared),
    two: stdioUpstream('plain.mjs', [two.path], shared),
  },
});

/** A client of this subject and these roles. */
async function openAs(sub: string, ...roles: readonly string[]) {
  const token = await issuer.sign({ sub, roles });
  return openRaw(gateway().url, { headers: { authorization: `Bearer ${token}` } });
}
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const tools = (...names: readonly string[]) => ({
  jsonrpc: '2.0',
  id: 1,
  result: { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) },
});
const calls = ({ lines }: RecordFile) => lines().filter((line) => line.startsWith('called'));

describe('each principal', () => {
  test('sees what its roles allow and nothing else', async () => {
    const reader = await openAs('alice', 'reader');
    const worker = await openAs('bob', 'worker');
    const both = await openAs('carol', 'worker', 'reader');
    expect(await reader.ask(list)).toEqual(tools('one__echo', 'one__pid'));
    expect(await worker.ask(list)).toEqual(tools('two__echo', 'two__pid'));
    expect(await both.ask(list)).toEqual(tools('one__echo', 'one__pid', 'two__echo', 'two__pid'));
  });

  test('without a role that allows anything is offered nothing', async () => {
    const nobody = await openAs('mallory', 'other');
    expect(await nobody.ask(list)).toEqual(errorAnswer(1, -32601, 'Method not found'));
    expect(await nobody.ask(toolCall(2, 'one__echo'))).toEqual(errorAnswer(2, -32601, 'Method not found'));
  });

  test('reaches what it sees', async () => {
    const reader = await openAs('alice', 'reader');
    const worker = await openAs('bob', 'worker');
    expect(await reader.ask(toolCall(1, 'one__echo', { text: 'r' }))).toEqual(textAnswer(1, 'r'));
    expect(await worker.ask(toolCall(1, 'two__echo', { text: 'w' }))).toEqual(textAnswer(1, 'w'));
  });
});

test('denied, unknown and another’s are one answer but for the name, and no upstream is contacted', async () => {
  const reader = await openAs('alice', 'reader');
  const before = calls(one).length;
  const elsewhere = calls(two);
  const frames = [];
  const asked = ['one__big', 'two__echo', 'one__nosuch', 'nosuch', 'one/big', 'echo'];
  for (const name of asked) {
    reader.send(toolCall(1, name, { text: 'x' }));
    frames.push(await reader.next());
  }
  expect(frames).toEqual(
    asked.map((name) => `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: ${name}"}}`),
  );
  expect(await reader.ask(toolCall(2, 'one__pid'))).toMatchObject({ id: 2, result: {} });
  expect(calls(one).slice(before)).toEqual(['called pid']);
  expect(calls(two)).toEqual(elsewhere);
});

test('a rule on arguments leaves the tool listed and decides at the call', async () => {
  const reader = await openAs('alice', 'reader');
  const before = calls(one).length;
  expect(await reader.ask(toolCall(1, 'one__echo', { text: 'secret' }))).toEqual(
    errorAnswer(1, -32602, 'Unknown tool: one__echo'),
  );
  expect(
    await reader.ask(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one__echo","arguments":{"t\\u0065xt":"s\\u0065cret"}}}',
    ),
  ).toEqual(errorAnswer(2, -32602, 'Unknown tool: one__echo'));
  expect(await reader.ask(toolCall(3, 'one__echo', { text: 'open' }))).toEqual(textAnswer(3, 'open'));
  expect(await reader.ask(toolCall(4, 'one__echo', {}))).toEqual(errorAnswer(4, -32602, 'Unknown tool: one__echo'));
  expect(calls(one).slice(before)).toEqual(['called echo']);
});
