import { expect, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';

const gateway = fileGateway({ mcpServers: { g: stdioUpstream('grudging.mjs', [], { idle: '300ms' }) } });
const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';

async function names(client: RawClient): Promise<string[]> {
  const { result } = JSON.parse(JSON.stringify(await client.ask({ jsonrpc: '2.0', id: 'l', method: 'tools/list' })));
  return result.tools.map((tool: { name: string }) => tool.name);
}

test('what a session’s own link lists is that session’s list, and nobody else’s', async () => {
  const [one, two] = [await openRaw(gateway().url, {}, { roots: {} }), await openRaw(gateway().url, {}, { roots: {} })];
  expect(await names(one)).toEqual(['g__grant', 'g__revoke', 'g__rooted']);
  one.send(toolCall(1, 'g__grant'));
  expect(await one.json()).toEqual(textAnswer(1, 'grant'));
  expect(await one.next()).toBe(CHANGED);
  expect(await names(one)).toEqual(['g__grant', 'g__revoke', 'g__rooted', 'g__special']);
  expect(await one.ask(toolCall(2, 'g__special'))).toEqual(textAnswer(2, 'special'));
  expect(await two.barrier()).toEqual([]);
  expect(await names(two)).toEqual(['g__grant', 'g__revoke', 'g__rooted']);
  expect(await two.ask(toolCall(3, 'g__special'))).toMatchObject({
    error: { code: -32602, message: 'Unknown tool: g__special' },
  });
});

test('back to what everybody has, the session is told, and again when its link is gone', async () => {
  const client = await openRaw(gateway().url, {}, { roots: {} });
  await client.ask(toolCall(1, 'g__grant'));
  expect(await client.next()).toBe(CHANGED);
  client.send(toolCall(2, 'g__revoke'));
  await client.next();
  expect(await client.next()).toBe(CHANGED);
  expect(await names(client)).toEqual(['g__grant', 'g__revoke', 'g__rooted']);
  await client.ask(toolCall(3, 'g__grant'));
  expect(await client.next()).toBe(CHANGED);
  expect(await client.next()).toBe(CHANGED);
  expect(await names(client)).toEqual(['g__grant', 'g__revoke', 'g__rooted']);
});

test('a client that declares less than anybody could is offered what its own link lists', async () => {
  const client = await openRaw(gateway().url);
  expect(await names(client)).toContain('g__rooted');
  await client.ask(toolCall(1, 'g__revoke'));
  expect(await client.next()).toBe(CHANGED);
  expect(await names(client)).toEqual(['g__grant', 'g__revoke']);
});
