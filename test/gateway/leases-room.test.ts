import { describe, expect, test } from 'vitest';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { cancellation, errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';
import { isAlive } from '../support/stdio/child.ts';

const stubborn = recordFile();
const crowded = recordFile();
/** For a machine with other work. */
const PATIENT = { timeout: 15_000 };
const AT_CAPACITY = { reason: 'at_capacity', retryable: true, retryAfterMs: 1000 };

const call = (id: number, name: string) =>
  modernRequest(id, 'tools/call', { name, arguments: {} }, { capabilities: { elicitation: { form: {} } } });
const living = (record: { lines(): string[] }) =>
  record.lines().flatMap((line) => (/^pid /.test(line) && isAlive(line.slice(4)) ? [line.slice(4)] : []));
const waiting = (record: { lines(): string[] }) => record.lines().filter((line) => line.startsWith('waiting'));

async function pidsOf(client: RawClient, ...ids: number[]): Promise<string[]> {
  for (const id of ids) client.send(call(id, 'up__pid'));
  const pids: string[] = [];
  for (const _ of ids) pids.push(/"text":"(\d+)"/.exec(await client.next())?.[1] ?? 'none');
  return pids;
}

test('children on their way out take their places until they are gone, however slowly that goes', async () => {
  const upstream = stdioUpstream('stubborn.mjs', [stubborn.path], { maxLinks: 2 });
  const gateway = await startGateway({ mcpServers: { up: upstream } });
  await gateway.ready();
  await expect.poll(() => living(stubborn), PATIENT).toHaveLength(1);
  const client = await connectRaw(gateway.url);
  for (const round of [0, 1, 2]) {
    const ids = [round * 2 + 1, round * 2 + 2];
    for (const id of ids) client.send(call(id, 'up__wait'));
    await expect.poll(() => waiting(stubborn), PATIENT).toHaveLength(round * 2 + 2);
    expect(living(stubborn)).toHaveLength(3);
    for (const id of ids) client.send(cancellation(id));
  }
}, 30_000);

describe('where every place is taken', () => {
  const crowd = async () => {
    const upstream = stdioUpstream('plain.mjs', [crowded.path], { maxLinks: 2 });
    const gateway = await startGateway({ mcpServers: { up: upstream } });
    await gateway.ready();
    return { gateway, client: await connectRaw(gateway.url), other: await openRaw(gateway.url) };
  };

  test('an idle link of anybody makes room, and its child has ended by then', async () => {
    const { gateway, client, other } = await crowd();
    const before = await pidsOf(client, 1, 2);
    expect(new Set(before).size).toBe(2);
    const answer = await other.ask(toolCall(1, 'up__pid'));
    const left = before.filter(isAlive);
    expect(left).toHaveLength(1);
    expect(answer).not.toEqual(textAnswer(1, left[0] ?? ''));
    expect(await gateway.metrics()).toMatch(/links\{[^}]*isolation="session"[^}]*\} 2\n/);
    // The first client again: the one idle link it has left, and then a place of its own for the second call.
    expect((await pidsOf(client, 3, 4)).filter((pid) => pid === left[0])).toHaveLength(1);
  });

  test('links that serve a call are left alone', async () => {
    const { client, other } = await crowd();
    const before = waiting(crowded).length;
    for (const id of [1, 2]) client.send(call(id, 'up__wait'));
    await expect.poll(() => waiting(crowded)).toHaveLength(before + 2);
    const refused = errorAnswer(1, -32603, 'The gateway is at capacity', AT_CAPACITY);
    const alive = living(crowded);
    expect(await other.ask(toolCall(1, 'up__pid'))).toEqual(refused);
    expect(living(crowded)).toEqual(alive);
  });

  test('a session’s own idle child makes room too, and the session gets another one when it calls', async () => {
    const upstream = stdioUpstream('plain.mjs', [], { maxLinks: 1 });
    const gateway = await startGateway({ mcpServers: { up: upstream } });
    const [one, two] = [await openRaw(gateway.url), await openRaw(gateway.url)];
    expect(await one.ask(toolCall(1, 'up__echo', { text: 'a' }))).toEqual(textAnswer(1, 'a'));
    expect(await two.ask(toolCall(1, 'up__echo', { text: 'b' }))).toEqual(textAnswer(1, 'b'));
    expect(await one.ask(toolCall(2, 'up__echo', { text: 'c' }))).toEqual(textAnswer(2, 'c'));
  });
});
