import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { httpLibrary } from '../support/library.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

const echo = (id: number, upstream: string) => toolCall(id, `${upstream}__echo`, { text: 'hello' });

test('a missing command and a refusing server hide nothing of the third, are reported, and are tried again', async () => {
  const refusing = await httpLibrary({ isolation: 'shared' }, { tag: 'refusing' });
  await refusing.stop();
  const gateway = await startGateway({
    mcpServers: {
      missing: { command: 'no-such-command-of-an-mcp-server' },
      refusing: refusing.entry,
      good: stdioUpstream('plain.mjs', [], { isolation: 'shared' }),
    },
  });
  const client = await openRaw(gateway.url);
  expect(await client.ask(echo(1, 'good'))).toEqual(textAnswer(1, 'hello'));
  expect(await client.ask(echo(2, 'refusing'))).toEqual(errorAnswer(2, -32602, 'Unknown tool: refusing__echo'));
  const ready = await fetch(`${gateway.opsUrl}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ready', detail: { upstreams: { missing: 'failed', refusing: 'failed', good: 'answered' } } },
  ]);

  await refusing.start();
  expect(await client.next()).toBe('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
  expect(await client.json()).toEqual({ jsonrpc: '2.0', method: 'notifications/resources/list_changed' });
  expect(await client.json()).toEqual({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' });
  expect(await client.ask(echo(3, 'refusing'))).toEqual(textAnswer(3, 'hello'));
  const tries = () =>
    gateway.log.filter(({ event, fields }) => event === 'upstream_unavailable' && fields.upstream === 'missing').length;
  await expect.poll(tries, { timeout: 5000 }).toBeGreaterThanOrEqual(2);
});

test('one that is required keeps the gateway unready, and nobody waits for it longer than 3 s', async () => {
  const gateway = await startGateway({
    mcpServers: {
      missing: { command: 'no-such-command-of-an-mcp-server', required: true },
      good: stdioUpstream('plain.mjs', [], { isolation: 'shared' }),
    },
  });
  const client = await openRaw(gateway.url);
  expect(await client.ask(echo(1, 'good'))).toEqual(textAnswer(1, 'hello'));
  const ready = await fetch(`${gateway.opsUrl}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { status: 'not_ready', detail: { upstreams: { missing: 'failed', good: 'answered' } } },
  ]);
});
