import { describe, expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';
import { isAlive } from '../support/stdio/child.ts';

const own = recordFile();
const gateway = fileGateway({
  mcpServers: {
    own: stdioUpstream('plain.mjs', [own.path], { env: { A: '1' } }),
    all: stdioUpstream('plain.mjs', [], { isolation: 'shared' }),
  },
});

/** The text that a tool answers with. */
async function said(client: RawClient, tool: string): Promise<string> {
  const { result } = JSON.parse(JSON.stringify(await client.ask(toolCall(1, tool))));
  return result.content[0].text;
}
const started = () => own.lines().filter((line) => line.startsWith('pid'));

describe('isolation: session', () => {
  test('ten idle sockets start no child', async () => {
    const clients = await Promise.all(Array.from({ length: 10 }, () => openRaw(gateway().url)));
    const asked = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    for (const client of clients) expect(await client.ask(asked)).toMatchObject({ id: 1, result: {} });
    // The one that was asked for its era, and that of the lists.
    expect(started()).toHaveLength(2);
  });

  test('each session has its own child, which lives as long as its socket', async () => {
    const [one, two] = [await openRaw(gateway().url), await openRaw(gateway().url)];
    const first = await said(one, 'own__pid');
    const second = await said(two, 'own__pid');
    const catalogue = started()[1]?.slice('pid '.length);
    expect(new Set([first, second, catalogue]).size).toBe(3);
    expect(await said(one, 'own__pid')).toBe(first);
    one.socket.close();
    await expect.poll(() => isAlive(first)).toBe(false);
    expect([isAlive(second), isAlive(catalogue)]).toEqual([true, true]);
    expect(await said(two, 'own__pid')).toBe(second);
    two.socket.terminate();
    await expect.poll(() => isAlive(second)).toBe(false);
    const children = async () =>
      sampleValue(parseMetrics(await gateway().metrics()), 'mcp_gateway_children', { upstream: 'own' });
    await expect.poll(children).toBe(1);
  });

  test('calls sent together share the one child that is started for them', async () => {
    const before = started().length;
    const client = await openRaw(gateway().url);
    client.send(toolCall(1, 'own__pid'));
    client.send(toolCall(2, 'own__pid'));
    await client.next();
    await client.next();
    expect(started()).toHaveLength(before + 1);
  });

  test('an unused child is ended, and another one started for the next call', async () => {
    const upstream = stdioUpstream('plain.mjs', [], { idle: '200ms' });
    const brief = await startGateway({ mcpServers: { up: upstream } });
    const client = await openRaw(brief.url);
    const first = await said(client, 'up__pid');
    await expect.poll(() => isAlive(first)).toBe(false);
    expect(await said(client, 'up__pid')).not.toBe(first);
  });

  test('a child too many fails its call, and the socket stays', async () => {
    const narrow = await startGateway({ mcpServers: { up: stdioUpstream('plain.mjs', [], { maxLinks: 1 }) } });
    const [one, two] = [await openRaw(narrow.url), await openRaw(narrow.url)];
    expect(await one.ask(toolCall(1, 'up__echo', { text: 'in' }))).toEqual(textAnswer(1, 'in'));
    one.send(toolCall(2, 'up__wait'));
    await one.barrier();
    const data = { reason: 'at_capacity', retryable: true, retryAfterMs: 1000 };
    const refused = errorAnswer(1, -32603, 'The gateway is at capacity', data);
    expect(await two.ask(toolCall(1, 'up__echo'))).toEqual(refused);
    one.socket.close();
    const again = () => two.ask(toolCall(1, 'up__echo', { text: 'in' }));
    await expect.poll(again).toEqual(textAnswer(1, 'in'));
  });

  test('a socket that closes while its child starts leaves none behind', async () => {
    const before = started().length;
    const client = await openRaw(gateway().url);
    client.send(toolCall(1, 'own__wait'));
    await client.barrier();
    client.socket.terminate();
    await expect.poll(() => started().length).toBe(before + 1);
    const pid = started().at(-1)?.slice('pid '.length);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

test('isolation: shared has one child for all', async () => {
  const [one, two] = [await openRaw(gateway().url), await openRaw(gateway().url)];
  const pid = await said(one, 'all__pid');
  expect(await said(two, 'all__pid')).toBe(pid);
  one.socket.terminate();
  expect(await said(two, 'all__pid')).toBe(pid);
});

test('a child sees the safe list and its own variables, and nothing else of the gateway', async () => {
  process.env.REDIS_URL = 'redis://secret';
  const fresh = await startGateway({ mcpServers: { up: stdioUpstream('plain.mjs', [], { env: { A: '1' } }) } });
  const seen = JSON.parse(await said(await openRaw(fresh.url), 'up__environment'));
  delete process.env.REDIS_URL;
  const safe = /^(HOME|LANG|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER|LC_[A-Z]+)$/;
  expect(Object.keys(seen).filter((name) => !safe.test(name))).toEqual(['A']);
  expect([seen.A, seen.PATH]).toEqual(['1', process.env.PATH]);
});

test('text on stdout before and between messages is ignored and counted', async () => {
  const noisy = await startGateway({ mcpServers: { up: stdioUpstream('noisy.mjs', [], { isolation: 'shared' }) } });
  const client = await openRaw(noisy.url);
  expect(await client.ask(toolCall(1, 'up__echo', { text: 'a' }))).toEqual(textAnswer(1, 'a'));
  expect(await client.ask(toolCall(2, 'up__echo', { text: 'b' }))).toEqual(textAnswer(2, 'b'));
  expect(await client.barrier()).toEqual([]);
  const labels = { source: 'upstream', kind: 'noise' };
  const counted = sampleValue(parseMetrics(await noisy.metrics()), 'mcp_gateway_unexpected_answers_total', labels);
  expect(counted).toBe(7 * 8);
});
