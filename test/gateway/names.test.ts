import { expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, toolCall } from '../support/messages.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';

const long = 'a-tool-name-of-exactly-forty-characters-';
const odd = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
const inputSchema = { type: 'object' };
const records = { one: recordFile(), two: recordFile(), bare: recordFile(), long: recordFile() };
/** A server whose tools have these names and which records its calls. */
const offering = (key: keyof typeof records, names: readonly string[], more: object = {}) =>
  stdioUpstream(
    'lists.mjs',
    [records[key].path, JSON.stringify({ pages: [JSON.stringify(names.map((name) => ({ name, inputSchema })))] })],
    {
      isolation: 'shared',
      ...more,
    },
  );
const gateway = fileGateway({
  mcpServers: {
    one: offering('one', ['send_email', 'grüße', 'gr__e']),
    two: offering('two', ['send_email', ...odd]),
    bare: offering('bare', ['plain', 'one__send_email', ...odd], { prefix: '' }),
    'an-upstream-name-of-24-c': offering('long', [`${long}1`, `${long}2`], { prefix: 'p'.repeat(32) }),
  },
});
const called = (key: keyof typeof records) =>
  records[key].lines().flatMap((line) => (line.startsWith('call ') ? [line.slice(5)] : []));

async function names(client: RawClient): Promise<string[]> {
  const answer = await client.ask({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
  const { result } = answer as { result: { tools: { name: string }[] } };
  return result.tools.map(({ name }) => name);
}

test('every tool has a public name of its own that all clients take', async () => {
  const listed = await names(await openRaw(gateway().url));
  expect(listed.filter((name) => !name.startsWith('ppp'))).toEqual([
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'one__gr__e',
    expect.stringMatching(/^one__gr__e_[0-9a-f]{8}$/),
    'one__send_email',
    expect.stringMatching(/^one__send_email_[0-9a-f]{8}$/),
    'plain',
    'toString',
    'two____proto__',
    'two__constructor',
    'two__hasOwnProperty',
    'two__send_email',
    'two__toString',
  ]);
  expect(new Set(listed).size).toBe(listed.length);
  for (const name of listed) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
});

test('equal names on two upstreams are two tools, each routed to its owner', async () => {
  const client = await openRaw(gateway().url);
  await client.ask(toolCall(1, 'two__send_email'));
  expect([called('one'), called('two')]).toEqual([[], ['send_email']]);
  await client.ask(toolCall(2, 'one__send_email'));
  expect([called('one'), called('two')]).toEqual([['send_email'], ['send_email']]);
});

test('long names are cut, stay apart, and reach what they stand for', async () => {
  const client = await openRaw(gateway().url);
  const cut = (await names(client)).filter((name) => name.startsWith('ppp'));
  expect(cut).toEqual([
    expect.stringMatching(/^p{32}__a-tool-name-of-exactl_[0-9a-f]{8}$/),
    expect.stringMatching(/^p{32}__a-tool-name-of-exactl_[0-9a-f]{8}$/),
  ]);
  for (const name of cut) await client.ask(toolCall(1, name));
  expect(called('long').sort()).toEqual([`${long}1`, `${long}2`]);
  expect(await names(await openRaw(gateway().url))).toEqual(expect.arrayContaining(cut));
});

test('tools named like members of every object are ordinary tools where an upstream has them', async () => {
  const client = await openRaw(gateway().url);
  for (const name of odd) expect(await client.ask(toolCall(1, name))).toMatchObject({ id: 1, result: {} });
  expect(called('bare')).toEqual(odd);
  await client.ask(toolCall(1, 'two____proto__'));
  expect(called('two')).toContain('__proto__');
});

test('and unknown where none has', async () => {
  const client = await openRaw(gateway().url);
  for (const name of ['one__constructor', 'valueOf', 'one____proto__', 'two__valueOf', 'send_email', '']) {
    expect(await client.ask(toolCall(1, name))).toEqual(errorAnswer(1, -32602, `Unknown tool: ${name}`));
  }
});
