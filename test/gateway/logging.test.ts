import { expect, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { stdioLibrary } from '../support/library.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';

const library = (isolation: 'session' | 'shared') => stdioUpstream('library.mjs', [], { isolation });
const gateway = fileGateway({ mcpServers: { own: library('session'), shared: library('shared') } });
const setLevel = (client: RawClient, level: unknown) =>
  client.ask({ jsonrpc: '2.0', id: 'level', method: 'logging/setLevel', params: { level } });
const accepted = { jsonrpc: '2.0', id: 'level', result: {} };
const log = (id: number, level: string, data: string, upstream = 'own') =>
  toolCall(id, `${upstream}__log`, { level, data });
const message = (level: string, data: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level, data, logger: 'library' },
});

test('each session hears its own calls’ messages, from the level it set', async () => {
  const quiet = await openRaw(gateway().url);
  const curious = await openRaw(gateway().url);
  expect(await setLevel(quiet, 'error')).toEqual(accepted);
  expect(await setLevel(curious, 'debug')).toEqual(accepted);
  expect(await quiet.ask(log(1, 'info', 'dropped'))).toEqual(textAnswer(1, 'logged'));
  curious.send(log(1, 'info', 'heard'));
  expect([await curious.json(), await curious.json()]).toEqual([message('info', 'heard'), textAnswer(1, 'logged')]);
  quiet.send(log(2, 'critical', 'grave'));
  expect([await quiet.json(), await quiet.json()]).toEqual([message('critical', 'grave'), textAnswer(2, 'logged')]);
  expect([await quiet.barrier(), await curious.barrier()]).toEqual([[], []]);
});

test('a level set before and after the link is open counts alike, and can be set again', async () => {
  const client = await openRaw(gateway().url);
  client.send(log(1, 'debug', 'before any level'));
  expect([await client.json(), await client.json()]).toEqual([
    message('debug', 'before any level'),
    textAnswer(1, 'logged'),
  ]);
  await setLevel(client, 'warning');
  expect(await client.ask(log(2, 'notice', 'too low'))).toEqual(textAnswer(2, 'logged'));
  await setLevel(client, 'notice');
  client.send(log(3, 'notice', 'enough'));
  expect([await client.json(), await client.json()]).toEqual([message('notice', 'enough'), textAnswer(3, 'logged')]);
});

test('a level reaches an upstream that by itself says less, on links that are open and on those to come', async () => {
  const reserved = await stdioLibrary({}, { logLevel: 'warning' });
  const { url, ready } = await startGateway({ mcpServers: { own: reserved.entry } });
  await ready();
  const [early, late] = [await openRaw(url), await openRaw(url)];
  await setLevel(early, 'debug');
  early.send(log(1, 'debug', 'asked for'));
  expect([await early.json(), await early.json()]).toEqual([message('debug', 'asked for'), textAnswer(1, 'logged')]);
  expect(await late.ask(log(1, 'info', 'not said'))).toEqual(textAnswer(1, 'logged'));
  await setLevel(late, 'info');
  late.send(log(2, 'info', 'said now'));
  expect([await late.json(), await late.json()]).toEqual([message('info', 'said now'), textAnswer(2, 'logged')]);
  expect(reserved.lines().filter((line) => line.startsWith('level'))).toEqual(['level debug', 'level info']);
});

test('what a shared upstream logs goes to the gateway’s log without its text, never to a caller', async () => {
  const client = await openRaw(gateway().url);
  await setLevel(client, 'debug');
  expect(await client.ask(log(1, 'emergency', 'whose call was this', 'shared'))).toEqual(textAnswer(1, 'logged'));
  expect(await client.barrier()).toEqual([]);
  const lines = gateway().log.filter(({ event }) => event === 'upstream_log');
  expect(lines.map(({ level, fields }) => [level, fields.upstream, fields.level])).toEqual([
    ['debug', 'shared', 'emergency'],
  ]);
  expect(JSON.stringify(gateway().log)).not.toContain('whose call was this');
});

test.each(['loud', '', 'Error', 7, null, undefined])('a level that is none is refused: %j', async (level) => {
  const client = await openRaw(gateway().url);
  expect(await setLevel(client, level)).toEqual(errorAnswer('level', -32602, 'Invalid params of logging/setLevel'));
});

test('logging is announced where an upstream has session links, and is no method where none has', async () => {
  const capabilities = async (url: string) => {
    const client = await connectRaw(url);
    const answer = await client.initialize();
    return {
      client,
      logging: (answer as { result: { capabilities: { logging?: object } } }).result.capabilities.logging,
    };
  };
  expect((await capabilities(gateway().url)).logging).toEqual({});
  const shared = await startGateway({ mcpServers: { shared: library('shared') } });
  await shared.ready();
  const { client, logging } = await capabilities(shared.url);
  expect(logging).toBeUndefined();
  expect(await setLevel(client, 'error')).toEqual(errorAnswer('level', -32601, 'Method not found'));
});
