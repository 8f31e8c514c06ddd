import { describe, expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

const record = recordFile();
const library = (tag: string, templates: readonly string[], path = '') =>
  stdioUpstream('library.mjs', [path, JSON.stringify({ tag, templates, resources: [`${tag}://1`] })], {
    isolation: 'shared',
  });
const gateway = fileGateway({
  mcpServers: {
    north: library('north', ['north://{id}', 'both://{id}']),
    south: library('south', ['both://{id}', 'south://{id}', 'south://secret/{id}'], record.path),
  },
  policy: [
    { allow: { prompts: ['**'], resources: ['**'] } },
    { deny: { prompts: ['south/broken'], resources: ['south://secret/**'] } },
  ],
});
const complete = (id: number, ref: unknown, value = 'E') => ({
  jsonrpc: '2.0',
  id,
  method: 'completion/complete',
  params: { ref, argument: { name: 'title', value } },
});
const completed = (id: number, value: string) => ({
  jsonrpc: '2.0',
  id,
  result: { completion: { values: [value], total: 1, hasMore: false } },
});

describe('completion', () => {
  test('for a prompt goes to its owner under the name the owner knows', async () => {
    const client = await openRaw(gateway().url);
    const ref = { type: 'ref/prompt', name: 'south__review' };
    expect(await client.ask(complete(1, ref))).toEqual(completed(1, 'south:E1'));
    expect(record.lines()).toContain('complete {"type":"ref/prompt","name":"review"} title');
  });

  test.each([
    ['south://{id}', 'south'],
    ['both://{id}', 'north'],
    ['south://1', 'south'],
  ])('for a resource or template goes to its owner: %s', async (uri, owner) => {
    const client = await openRaw(gateway().url);
    expect(await client.ask(complete(1, { type: 'ref/resource', uri }))).toEqual(completed(1, `${owner}:E1`));
  });

  test('keeps the errors of the owner', async () => {
    const client = await openRaw(gateway().url);
    expect(await client.ask(complete(1, { type: 'ref/prompt', name: 'north__review' }, 'fail'))).toEqual(
      errorAnswer(1, -32053, 'no idea'),
    );
  });

  test('for what is denied is as for what is unknown, and nobody is asked', async () => {
    const client = await openRaw(gateway().url);
    const before = record.lines();
    for (const name of ['south__broken', 'south__nothing']) {
      expect(await client.ask(complete(1, { type: 'ref/prompt', name }))).toEqual(
        errorAnswer(1, -32602, `Unknown prompt: ${name}`),
      );
    }
    for (const uri of ['south://secret/{id}', 'nowhere://{id}']) {
      expect(await client.ask(complete(2, { type: 'ref/resource', uri }))).toEqual(
        errorAnswer(2, -32002, 'Resource not found', { uri }),
      );
    }
    expect(record.lines()).toEqual(before);
  });

  test.each([undefined, {}, { type: 'ref/tool', name: 'x' }, { type: 'ref/resource' }, { type: 'ref/prompt' }])(
    'of something else is refused: %j',
    async (ref) => {
      const client = await openRaw(gateway().url);
      expect(await client.ask(complete(1, ref))).toMatchObject({ id: 1, error: { code: -32602 } });
    },
  );
});
