import { expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

const record = recordFile();
const library = (tag: string, path = '') =>
  stdioUpstream('library.mjs', [path, JSON.stringify({ tag })], { isolation: 'shared' });
const gateway = fileGateway({
  mcpServers: { north: library('north', record.path), south: library('south') },
  policy: [{ allow: { prompts: ['**'] } }, { deny: { prompts: ['south/broken'] } }],
});
const get = (id: number | string, name: unknown, given?: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'prompts/get',
  params: { name, ...(given === undefined ? {} : { arguments: given }) },
});
const review = (tag: string, title: string) => ({
  description: 'A review',
  messages: [{ role: 'user', content: { type: 'text', text: `${tag}: review ${title}` } }],
});

test('prompts are listed under public names, without those a rule denies', async () => {
  const client = await openRaw(gateway().url);
  expect(await client.ask({ jsonrpc: '2.0', id: 1, method: 'prompts/list' })).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {
      prompts: [
        { name: 'north__broken' },
        { name: 'north__review', arguments: [{ name: 'title', required: true }] },
        { name: 'south__review', arguments: [{ name: 'title', required: true }] },
      ],
    },
  });
});

test('a prompt comes from its owner, under the name the owner knows', async () => {
  const client = await openRaw(gateway().url);
  expect(await client.ask(get('a', 'south__review', { title: 'Emma' }))).toEqual({
    jsonrpc: '2.0',
    id: 'a',
    result: review('south', 'Emma'),
  });
  expect(await client.ask(get(2, 'north__review', { title: 'Ulysses' }))).toEqual({
    jsonrpc: '2.0',
    id: 2,
    result: review('north', 'Ulysses'),
  });
  expect(record.lines()).toContain('get review');
});

test('an error of the owner passes unchanged', async () => {
  const client = await openRaw(gateway().url);
  expect(await client.ask(get(1, 'north__broken'))).toEqual(errorAnswer(1, -32052, 'no ink', { pages: 0 }));
});

test.each(['south__broken', 'south__nothing', 'review', '__proto__', 'constructor'])(
  'denied and unknown are one answer: %s',
  async (name) => {
    const client = await openRaw(gateway().url);
    expect(await client.ask(get(1, name))).toEqual(errorAnswer(1, -32602, `Unknown prompt: ${name}`));
  },
);

test('a request without a name, or with arguments that are no object, is refused', async () => {
  const client = await openRaw(gateway().url);
  expect(await client.ask(get(1, 7))).toEqual(errorAnswer(1, -32602, 'Invalid params: "name" must be a string'));
  expect(await client.ask(get(2, 'north__review', []))).toEqual(
    errorAnswer(2, -32602, 'Invalid params: "arguments" must be an object'),
  );
});
