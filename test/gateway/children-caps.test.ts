import { describe, expect, test } from 'vitest';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream, type TestGateway } from '../support/gateway.ts';
import { cancellation, errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';
import { isAlive } from '../support/stdio/child.ts';
import { makeIssuer } from '../support/tokens.ts';

const KEYS = ['a', 'b', 'c'];
const record = recordFile();
const refused = (id: number) =>
  errorAnswer(id, -32603, 'The gateway is at capacity', {
    reason: 'at_capacity',
    retryable: true,
    retryAfterMs: 1000,
  });

/** Three upstreams that are processes, and one shared. */
async function gatewayWith(limits: object, more: object = {}): Promise<TestGateway> {
  const own = Object.fromEntries(KEYS.map((key) => [key, stdioUpstream('plain.mjs', [record.path])]));
  const shared = stdioUpstream('plain.mjs', [], { isolation: 'shared' });
  const gateway = await startGateway({ ...more, limits, mcpServers: { ...own, shared } });
  await gateway.ready();
  return gateway;
}

let calls = 0;
/** Which process answers a call to this upstream. */
async function pidOf(client: RawClient, key: string): Promise<string> {
  calls += 1;
  client.send(toolCall(calls, `${key}__pid`));
  return /"text":"(\d+)"/.exec(await client.next())?.[1] ?? 'none';
}

/** A call that is with its process, and stays there. */
async function busy(client: RawClient, id: number, key: string): Promise<void> {
  const before = record.lines().length;
  client.send(toolCall(id, `${key}__wait`));
  await expect.poll(() => record.lines().slice(before)).toContain('called wait');
}

describe('where as many processes run for sessions as may', () => {
  test('the one idle for longest makes room, whose ever and of whatever upstream it is', async () => {
    const { url } = await gatewayWith({ children: 2 });
    const [one, two, three] = [await openRaw(url), await openRaw(url), await openRaw(url)];
    const [first, second] = [await pidOf(one, 'a'), await pidOf(two, 'b')];
    const third = await pidOf(three, 'c');
    expect([first, second, third].map(isAlive)).toEqual([false, true, true]);
  });

  test('those of catalogue links and shared ones count for nothing', async () => {
    const { url, metrics } = await gatewayWith({ children: 1 });
    const client = await openRaw(url);
    const [own, shared] = [await pidOf(client, 'a'), await pidOf(client, 'shared')];
    expect([own, shared].map(isAlive)).toEqual([true, true]);
    const counts = [...(await metrics()).matchAll(/^mcp_gateway_children\{upstream="(\w+)"\} (\d)/gm)];
    expect(counts.map(([, key, count]) => `${key} ${count}`).sort()).toEqual(['a 2', 'b 1', 'c 1', 'shared 1']);
    expect(await metrics()).toContain('mcp_gateway_session_children 1\n');
    client.socket.close();
    await expect.poll(metrics).toContain('mcp_gateway_session_children 0\n');
  });

  test('and all are busy, a call fails and its socket stays', async () => {
    const { url } = await gatewayWith({ children: 1 });
    const [one, two] = [await openRaw(url), await openRaw(url)];
    await busy(one, 1, 'a');
    expect(await two.ask(toolCall(1, 'b__pid'))).toEqual(refused(1));
    one.send(cancellation(1));
    await one.barrier();
    expect(await two.ask(toolCall(2, 'b__echo', { text: 'in' }))).toEqual(textAnswer(2, 'in'));
  });
});

describe('where as many run for one principal as may', () => {
  test('its own one idle for longest makes room, and nobody else’s', async () => {
    const { url } = await gatewayWith({ childrenPerPrincipal: 2 });
    const [other, client] = [await openRaw(url), await openRaw(url)];
    const before = [await pidOf(other, 'a'), await pidOf(client, 'a'), await pidOf(client, 'b')];
    await pidOf(client, 'c');
    expect(before.map(isAlive)).toEqual([true, false, true]);
  });

  test('its sockets share them, and another principal has its own', async () => {
    const idp = await makeIssuer();
    const issuers = [{ issuer: idp.issuer, keys: { secret: idp.secret }, algorithms: ['HS256'] }];
    const auth = { mode: 'jwt', resource: idp.audience, issuers };
    const jwt = { auth, hosts: ['127.0.0.1'], policy: 'allow-authenticated' };
    const { url } = await gatewayWith({ childrenPerPrincipal: 1 }, jwt);
    const open = async (sub: string) =>
      openRaw(url, { headers: { authorization: `Bearer ${await idp.sign({ sub })}` } });
    const [one, two, other] = [await open('alice'), await open('alice'), await open('bob')];
    await busy(one, 1, 'a');
    expect(await two.ask(toolCall(1, 'b__pid'))).toEqual(refused(1));
    expect(await other.ask(toolCall(1, 'b__echo', { text: 'in' }))).toEqual(textAnswer(1, 'in'));
    expect(await two.barrier()).toEqual([]);
  });
});
