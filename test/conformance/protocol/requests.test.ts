import { expect } from 'vitest';
import { fileGateway, recordFile } from '../../support/file-gateway.ts';
import { stdioUpstream } from '../../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';
import { verifies } from '../verifies.ts';

const heard = recordFile();
const gateway = fileGateway({
  mcpServers: {
    up: stdioUpstream('plain.mjs', [heard.path], { isolation: 'shared' }),
    library: stdioUpstream('library.mjs', []),
  },
});

verifies('err.notification', 'no notification is answered, whatever it says', async () => {
  const client = await openRaw(gateway().url);
  for (const method of ['notifications/unheard/of', 'tools/call', 'initialize', 'notifications/cancelled', '']) {
    client.send({ jsonrpc: '2.0', method });
    client.send({ jsonrpc: '2.0', method, params: { name: 'up__echo', requestId: [], _meta: 7 } });
  }
  expect(await client.barrier()).toEqual([]);
});

verifies('err.params', 'what does not fit is refused at its id, and no upstream hears of it', async () => {
  const client = await openRaw(gateway().url);
  const calls = () => heard.lines().filter((line) => line.startsWith('called'));
  const before = calls();
  const call = (params: string) => `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":${params}}`;
  const refused: readonly [string, string][] = [
    [call('{}'), '"name" must be a string'],
    [call('{"name":7}'), '"name" must be a string'],
    [call('{"name":"up__echo","arguments":[]}'), '"arguments" must be an object'],
    [call('{"name":"up__echo","arguments":null}'), '"arguments" must be an object'],
    [call('{"name":"up__echo","arguments":{"a":{"b":1,"\\u0062":2}}}'), '"arguments" has a key twice'],
    [call('{"name":"up__echo","_meta":1}'), '"_meta" must be an object'],
    [call('{"name":"up__echo","_meta":{"progressToken":1.5}}'), '"progressToken" must be a string or an integer'],
    [call('{"name":"up__echo","_meta":{"progressToken":null}}'), '"progressToken" must be a string or an integer'],
  ];
  for (const [frame, problem] of refused) {
    expect(await client.ask(frame)).toEqual(errorAnswer('x', -32602, `Invalid params: ${problem}`));
  }
  const ask = (method: string, params: object) => client.ask({ jsonrpc: '2.0', id: 1, method, params });
  const wrong = { id: 1, error: { code: -32602 } };
  expect(await ask('prompts/get', {})).toMatchObject(wrong);
  expect(await ask('resources/read', { uri: 1 })).toMatchObject(wrong);
  expect(await ask('resources/subscribe', {})).toMatchObject(wrong);
  expect(await ask('completion/complete', { ref: { type: 'ref/tool' } })).toMatchObject(wrong);
  expect(await ask('logging/setLevel', { level: 'loud' })).toMatchObject(wrong);
  expect(calls()).toEqual(before);
});

verifies(['err.answer', 'id.space'], 'many requests at once are answered once each, under their own ids', async () => {
  const client = await openRaw(gateway().url);
  const ids = [...Array.from({ length: 20 }, (_, at) => at), ...Array.from({ length: 20 }, (_, at) => `${at}`)];
  for (const id of ids) client.send(toolCall(id, 'up__echo', { text: JSON.stringify(id) }));
  const answers = [];
  while (answers.length < ids.length) answers.push(await client.json());
  expect(answers).toHaveLength(40);
  expect(answers).toEqual(expect.arrayContaining(ids.map((id) => textAnswer(id, JSON.stringify(id)))));
  expect(await client.barrier()).toEqual([]);
});

verifies(
  'era.other',
  'a request of the modern era on a handshake socket is refused, and the session goes on',
  async () => {
    const client = await openRaw(gateway().url);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    for (const method of ['tools/list', 'tools/call', 'subscriptions/listen']) {
      const answer = await client.ask({ jsonrpc: '2.0', id: 1, method, params: { name: 'up__echo', _meta } });
      expect(answer).toMatchObject({ id: 1, error: { code: -32600 } });
    }
    expect(await client.ask(toolCall(2, 'up__echo', { text: 'still' }))).toEqual(textAnswer(2, 'still'));
  },
);
