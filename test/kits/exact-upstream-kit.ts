import { expect, test } from 'vitest';
import { EXACT_RESULT } from '../support/exact-peer.ts';
import { startGateway } from '../support/gateway.ts';
import { errorAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

/** What an upstream that carries text owes. `listen` starts one that answers as `exactAnswer` does, and returns its entry. */
export function exactUpstreamKit(listen: () => Promise<object>): void {
  test('9223372036854775807 and vendor fields are the same bytes there and back', async () => {
    const client = await open();
    for (const id of [1, '1']) {
      const called = `"method":"tools/call","params":{"name":"up__echo","arguments":{"n":9223372036854775807,"f":1.50}}`;
      client.send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${called}}`);
      expect(await client.next()).toBe(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${EXACT_RESULT}}`);
    }
  });

  test('many calls at once are all answered, each its own', async () => {
    const client = await open();
    const ids = Array.from({ length: 60 }, (_, at) => at);
    for (const id of ids) client.send(toolCall(id, 'up__echo'));
    const answered: unknown[] = [];
    for (const _ of ids) answered.push(await client.json());
    expect(answered).toHaveLength(60);
    expect(new Set(answered.map((answer) => JSON.stringify(answer)))).toHaveLength(60);
  });

  async function open() {
    const gateway = await startGateway({ mcpServers: { up: await listen() } });
    await gateway.ready();
    return openRaw(gateway.url);
  }
}

/** Of an upstream whose connection survives an answer over the limit. */
export function longAnswerKit(listen: () => Promise<object>): void {
  test('an answer over the limit fails its own call, and the next is answered', async () => {
    const limits = { maxUpstreamMessage: '64KiB' };
    const gateway = await startGateway({ mcpServers: { up: await listen() }, limits });
    await gateway.ready();
    const client = await openRaw(gateway.url);
    expect(await client.ask(toolCall(1, 'up__long'))).toEqual(
      errorAnswer(1, -32603, 'The answer of the upstream is too large or malformed', {
        reason: 'too_large',
        retryable: false,
      }),
    );
    client.send(toolCall(2, 'up__echo'));
    expect(await client.next()).toBe(`{"jsonrpc":"2.0","id":2,"result":${EXACT_RESULT}}`);
    expect(gateway.log.map(({ event }) => event)).not.toContain('upstream_down');
  });
}
