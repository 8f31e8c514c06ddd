import { describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { cancellation, errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import type { OpenSocketLibrary, SocketLibrary } from '../support/socket-library.ts';

/** What an upstream that lives as long as its connection owes, whatever the connection is. */
export function socketUpstreamKit(openLibrary: OpenSocketLibrary): void {
  const open = async (isolation: 'session' | 'shared') => {
    const library = await openLibrary({ isolation });
    const gateway = await startGateway({ mcpServers: { up: library.entry } });
    await gateway.ready();
    return { library, gateway, url: gateway.url };
  };

  test('each session has a connection of its own, or all share one', async () => {
    const own = await open('session');
    const [first, second] = [await openRaw(own.url), await openRaw(own.url)];
    expect(own.library.open()).toBe(1);
    for (const [at, client] of [first, second].entries()) {
      expect(await client.ask(toolCall(1, 'up__echo', { text: 'hällo 😀' }))).toEqual(textAnswer(1, 'hällo 😀'));
      expect(own.library.open()).toBe(2 + at);
    }
    first.socket.terminate();
    await expect.poll(own.library.open).toBe(2);
    expect(await second.ask(toolCall(2, 'up__echo', { text: 'still' }))).toEqual(textAnswer(2, 'still'));

    const shared = await open('shared');
    for (const client of [await openRaw(shared.url), await openRaw(shared.url)]) {
      expect(await client.ask(toolCall(1, 'up__echo', { text: 'hello' }))).toEqual(textAnswer(1, 'hello'));
    }
    expect(shared.library.open()).toBe(1);
    await shared.gateway.close();
    await expect.poll(shared.library.open).toBe(0);
  });

  test('what a server says unasked reaches the clients', async () => {
    const { url } = await open('shared');
    const [client, other] = [await openRaw(url), await openRaw(url)];
    client.send(toolCall(1, 'up__add'));
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    expect(await other.json()).toEqual(changed);
    expect([await client.json(), await client.json()]).toEqual(
      expect.arrayContaining([textAnswer(1, 'added'), changed]),
    );
  });

  describe.each(['session', 'shared'] as const)('with isolation %s', (isolation) => {
    test('a server that is gone fails calls, in flight and new, and serves again once it is back', async () => {
      const { library, url } = await open(isolation);
      const client = await openRaw(url);
      client.send(toolCall(1, 'up__wait'));
      await waiting(library);
      await library.stop();
      expect(await client.json()).toEqual(
        errorAnswer(1, -32603, 'The upstream went away during the call', {
          reason: 'upstream_closed',
          retryable: true,
        }),
      );
      expect(await client.ask(toolCall(2, 'up__echo'))).toMatchObject({
        id: 2,
        error: { code: -32603, data: { reason: 'upstream_unavailable' } },
      });
      await library.start();
      await expect
        .poll(() => client.ask(toolCall(3, 'up__echo', { text: 'back' })), { timeout: 8000 })
        .toEqual(textAnswer(3, 'back'));
    });

    test('a cancellation reaches the server under its own id, and nothing else is said of the call', async () => {
      const { library, url } = await open(isolation);
      const client = await openRaw(url);
      client.send(toolCall(101, 'up__wait'));
      const id = await waiting(library);
      expect(id).not.toBe('101');
      client.send(cancellation(101));
      await expect.poll(() => library.lines()).toContain(`cancelled ${id}`);
      expect(await client.ask(toolCall(101, 'up__echo', { text: 'again' }))).toEqual(textAnswer(101, 'again'));
      expect(await client.barrier()).toEqual([]);
    });
  });
}

async function waiting(library: SocketLibrary): Promise<string> {
  const id = () => library.lines().flatMap((line) => /^waiting (\d+)$/.exec(line)?.[1] ?? [])[0];
  await expect.poll(id).toBeDefined();
  return String(id());
}
