import { describe, expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';

const library = (record: string, options: object, more: object = {}) =>
  stdioUpstream('library.mjs', [record, JSON.stringify(options)], { isolation: 'shared', ...more });
const north = recordFile();
const south = recordFile();
const outside = recordFile();
const reads = () => [north, south, outside].map((each) => each.lines().filter((line) => line.startsWith('read ')));
const gateway = fileGateway({
  mcpServers: {
    north: library(north.path, {
      tag: 'north',
      resources: ['lib://north/1', 'lib://both/1', 'lib://north/burnt'],
      templates: ['lib://n/{id}', 'lib://both/{id}'],
    }),
    south: library(south.path, {
      tag: 'south',
      resources: ['lib://south/1', 'lib://both/1'],
      templates: ['lib://both/{id}', 'lib://any/{id}'],
    }),
    outside: library(
      outside.path,
      { tag: 'outside', resources: ['out://1', 'lib://stray'], templates: ['out://{id}', 'lib://any/{id}'] },
      { uris: ['out://**'] },
    ),
  },
  policy: [{ allow: { tools: ['**'], resources: ['**'] } }, { deny: { resources: ['lib://n/secret*'] } }],
});
const request = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const read = (client: RawClient, uri: string) => client.ask(request(1, 'resources/read', { uri }));
const contents = (tag: string, uri: string) => ({
  jsonrpc: '2.0',
  id: 1,
  result: { contents: [{ uri, text: `${tag}:${uri}` }] },
});
const notFound = (uri: string) => errorAnswer(1, -32002, 'Resource not found', { uri });

describe('resources of three upstreams', () => {
  test('are listed once each, under their own URIs, within what an upstream may own', async () => {
    const client = await openRaw(gateway().url);
    expect(await client.ask(request(1, 'resources/list'))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resources: [
          { uri: 'lib://both/1', name: 'north lib://both/1' },
          { uri: 'lib://north/1', name: 'north lib://north/1' },
          { uri: 'lib://north/burnt', name: 'north lib://north/burnt' },
          { uri: 'lib://south/1', name: 'south lib://south/1' },
          { uri: 'out://1', name: 'outside out://1' },
        ],
      },
    });
    expect(await client.ask(request(2, 'resources/templates/list'))).toEqual({
      jsonrpc: '2.0',
      id: 2,
      result: {
        resourceTemplates: [
          { uriTemplate: 'lib://any/{id}', name: 'south lib://any/{id}' },
          { uriTemplate: 'lib://both/{id}', name: 'north lib://both/{id}' },
          { uriTemplate: 'lib://n/{id}', name: 'north lib://n/{id}' },
          { uriTemplate: 'out://{id}', name: 'outside out://{id}' },
        ],
      },
    });
  });

  test.each([
    ['lists it', 'lib://south/1', 'south'],
    ['is the first in the configuration of those that list it', 'lib://both/1', 'north'],
    ['has a template for it', 'lib://any/7', 'south'],
    ['is the first in the configuration of those with a template for it', 'lib://both/7', 'north'],
    ['alone may own it by its `uris`', 'out://7', 'outside'],
  ])('are read from the one that %s', async (_why, uri, owner) => {
    const client = await openRaw(gateway().url);
    expect(await read(client, uri)).toEqual(contents(owner, uri));
  });

  test('are not found where nobody may own them, and nobody is asked', async () => {
    const client = await openRaw(gateway().url);
    const before = reads();
    for (const uri of ['lib://stray', 'lib://nobody/1', 'lib://n/1/2', 'no uri', '']) {
      expect(await read(client, uri)).toEqual(notFound(uri));
    }
    expect(reads()).toEqual(before);
  });

  test('that a rule denies are as unknown ones, and nobody is asked', async () => {
    const client = await openRaw(gateway().url);
    expect(await read(client, 'lib://n/open')).toEqual(contents('north', 'lib://n/open'));
    const before = reads();
    expect(await read(client, 'lib://n/secret')).toEqual(notFound('lib://n/secret'));
    const subscribing = request(1, 'resources/subscribe', { uri: 'lib://n/secret' });
    expect(await client.ask(subscribing)).toEqual(notFound('lib://n/secret'));
    expect(reads()).toEqual(before);
  });

  test('keep the errors of their owner', async () => {
    const client = await openRaw(gateway().url);
    expect(await read(client, 'lib://north/burnt')).toEqual(
      errorAnswer(1, -32050, 'burnt', { uri: 'lib://north/burnt', since: 1666 }),
    );
    expect(await read(client, 'lib://any/missing')).toEqual(
      errorAnswer(1, -32002, 'no such book', { uri: 'lib://any/missing' }),
    );
  });

  test.each([{}, { uri: 7 }, { uri: null }])('need a URI: %j', async (params) => {
    const client = await openRaw(gateway().url);
    expect(await client.ask(request(1, 'resources/read', params))).toMatchObject({ id: 1, error: { code: -32602 } });
  });
});

test('what nobody lists is read from the only upstream with resources', async () => {
  const { url, ready } = await startGateway({
    mcpServers: { tools: stdioUpstream('plain.mjs'), only: library('', { tag: 'only', templates: [] }) },
  });
  await ready();
  expect(await read(await openRaw(url), 'other://1')).toEqual(contents('only', 'other://1'));
});
