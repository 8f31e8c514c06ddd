import { describe, expect, test } from 'vitest';
import { DRAINING_DATA } from '../support/drained.ts';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { cancellation, errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';

const record = recordFile();
const gateway = fileGateway({
  limits: { inFlight: 4, outbox: '64KiB' },
  mcpServers: { up: stdioUpstream('plain.mjs', [record.path], { isolation: 'shared' }) },
});

const ping = (id: string | number) => ({ jsonrpc: '2.0', id, method: 'ping' });
const pong = (id: string | number) => ({ jsonrpc: '2.0', id, result: {} });
const hold = (id: string | number, key: string) => toolCall(id, 'up__hold', { key });
const release = (id: string | number, key: string) => toolCall(id, 'up__release', { key });
const INVALID = errorAnswer(null, -32600, 'Invalid Request');

async function open(url = gateway().url): Promise<RawClient> {
  const client = await connectRaw(url);
  await client.initialize('2025-03-26');
  return client;
}

/** The next frame, which is a batch: its members in the order of their ids, those of none last. */
async function answers(client: RawClient): Promise<unknown[]> {
  const batch = await client.json();
  if (!Array.isArray(batch)) throw new Error(`no batch: ${JSON.stringify(batch)}`);
  return batch.sort((a: { id: unknown }, b: { id: unknown }) => String(a.id).localeCompare(String(b.id)));
}

async function holding(...keys: string[]): Promise<void> {
  const lines = keys.map((key) => `holding ${key}`);
  await expect.poll(() => record.lines()).toEqual(expect.arrayContaining(lines));
}

describe('where 2025-03-26 was agreed on', () => {
  test('what single frames would have been answered comes in one array', async () => {
    const client = await open();
    const requests = [
      ping('p'),
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      toolCall(2, 'up__echo', { text: 'a' }),
    ];
    const single: string[] = [];
    for (const request of requests) {
      client.send(request);
      single.push(await client.next());
    }
    client.send(requests);
    const batch = await client.next();
    expect(batch).toBe(`[${single.join(',')}]`);
    expect(await client.barrier()).toEqual([]);
  });

  test('one read together with initialize waits for its answer', async () => {
    const client = await connectRaw(gateway().url);
    const params = { capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
    const initialize = (protocolVersion: string) => {
      return { jsonrpc: '2.0', id: 'i', method: 'initialize', params: { protocolVersion, ...params } };
    };
    client.send(initialize('2025-03-26'));
    client.send([ping(1)]);
    expect(await client.json()).toMatchObject({ id: 'i', result: { protocolVersion: '2025-03-26' } });
    expect(await client.json()).toEqual([pong(1)]);
    const later = await connectRaw(gateway().url);
    later.send(initialize('2025-11-25'));
    later.send([ping(1)]);
    expect(await later.json()).toMatchObject({ id: 'i', result: { protocolVersion: '2025-11-25' } });
    expect(await later.json()).toEqual(INVALID);
  });

  test('64 members are taken', async () => {
    const client = await open();
    client.send(Array.from({ length: 64 }, (_, at) => ping(at)));
    expect(await client.json()).toHaveLength(64);
  });

  test('it waits for its last answer; everything else passes meanwhile', async () => {
    const client = await open();
    const beat = toolCall(2, 'up__beat', { every: 1, times: 1 }, { progressToken: 't' });
    client.send([ping(1), beat, hold(3, 'all')]);
    expect(await client.json()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 't', progress: 1 },
    });
    await holding('all');
    expect(await client.ask(toolCall(4, 'up__echo', { text: 'single' }))).toEqual(textAnswer(4, 'single'));
    client.send([ping(5)]);
    expect(await client.json()).toEqual([pong(5)]);
    expect(await client.barrier()).toEqual([]);
    expect(await client.ask('not JSON')).toEqual(errorAnswer(null, -32700, 'Parse error'));
    client.send(release(6, 'all'));
    expect(await answers(client)).toEqual([pong(1), textAnswer(2, 'beat 1'), textAnswer(3, 'all')]);
    expect(await client.json()).toEqual(textAnswer(6, 'released'));
  });

  test('each member is judged by itself', async () => {
    const client = await open();
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
    client.send([
      hold(1, 'judged'),
      hold(1, 'twice'),
      { jsonrpc: '2.0', id: 2, method: 'initialize', params },
      { jsonrpc: '2.0', id: 3, method: 'no/such' },
      [ping(4)],
      { jsonrpc: '1.0', id: 5, method: 'ping' },
      'ping',
      ping('6'),
      release(7, 'judged'),
    ]);
    expect(await answers(client)).toEqual([
      textAnswer(1, 'judged'),
      errorAnswer(2, -32600, 'Already initialized'),
      errorAnswer(3, -32601, 'Method not found'),
      pong('6'),
      textAnswer(7, 'released'),
      errorAnswer(null, -32600, 'Invalid Request: the id is in flight'),
      INVALID,
      INVALID,
      INVALID,
    ]);
    expect(record.lines()).not.toContain('holding twice');
  });

  test('an id in flight outside it is a duplicate in it, and the first call is untouched', async () => {
    const client = await open();
    client.send(hold(1, 'first'));
    await holding('first');
    client.send([toolCall(1, 'up__echo', { text: 'second' }), ping(2)]);
    expect(await answers(client)).toEqual([pong(2), errorAnswer(null, -32600, 'Invalid Request: the id is in flight')]);
    client.send(release(3, 'first'));
    expect(await client.json()).toEqual(textAnswer(1, 'first'));
  });

  test('its calls count as those of single frames do', async () => {
    const client = await open();
    client.send([1, 2, 3, 4, 5, 6].map((id) => hold(id, `full ${id}`)));
    await holding('full 1', 'full 2', 'full 3', 'full 4');
    const full = { reason: 'too_many_in_flight', retryable: true, retryAfterMs: 100 };
    const refused = (id: number) => errorAnswer(id, -32603, 'Too many requests in flight on this connection', full);
    expect(await client.ask(toolCall(7, 'up__echo'))).toEqual(refused(7));
    for (const id of [1, 2, 3, 4]) client.send(cancellation(id));
    expect(await answers(client)).toEqual([refused(5), refused(6)]);
  });

  test('notifications and answers get no member, and a batch of nothing else no frame', async () => {
    const client = await open();
    const quiet = [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      cancellation(99),
      { jsonrpc: '2.0', id: 'g1', result: {} },
    ];
    client.send(quiet);
    expect(await client.barrier()).toEqual([]);
    client.send([...quiet, ping(1)]);
    expect(await client.json()).toEqual([pong(1)]);
  });

  test('a cancelled call gets no member', async () => {
    const client = await open();
    client.send([hold(1, 'one'), hold(2, 'two'), ping(3)]);
    await holding('one', 'two');
    client.send(cancellation(1));
    expect(await client.barrier()).toEqual([]);
    client.send(release(4, 'two'));
    expect(await answers(client)).toEqual([textAnswer(2, 'two'), pong(3)]);
    expect(await client.json()).toEqual(textAnswer(4, 'released'));
    client.send([hold(5, 'five'), cancellation(5), ping(6)]);
    expect(await client.json()).toEqual([pong(6)]);
    client.send([hold(7, 'seven')]);
    client.send(cancellation(7));
    expect(await client.barrier()).toEqual([]);
    client.send(toolCall(7, 'up__echo', { text: 'free again' }));
    expect(await client.json()).toEqual(textAnswer(7, 'free again'));
  });

  test('what would not fit into the outbox with the others is an error in its place', async () => {
    const client = await open();
    client.send([1, 2, 3].map((id) => toolCall(id, 'up__big', { bytes: 40_000 })));
    const large = { reason: 'too_large', retryable: false };
    const instead = (id: number) =>
      errorAnswer(id, -32603, 'The answer of the upstream is too large or malformed', large);
    expect(await answers(client)).toEqual([textAnswer(1, 'x'.repeat(40_000)), instead(2), instead(3)]);
    client.send([toolCall(4, 'up__big', { bytes: 100_000 })]);
    expect(await answers(client)).toEqual([textAnswer(4, 'x'.repeat(100_000))]);
    expect(await client.ask([toolCall(5, 'up__big', { bytes: 40_000 })])).toEqual([textAnswer(5, 'x'.repeat(40_000))]);
  });

  test('a socket that closes leaves nothing of it behind', async () => {
    const client = await open();
    client.send([hold(1, 'left'), toolCall(2, 'up__wait'), ping(3)]);
    await holding('left');
    expect(await gateway().metrics()).toContain('mcp_gateway_inflight_requests 2');
    const before = record.lines().filter((line) => line.startsWith('cancelled')).length;
    client.socket.close();
    await client.closed;
    await expect.poll(() => record.lines().filter((line) => line.startsWith('cancelled')).length).toBe(before + 2);
    expect(await gateway().metrics()).toContain('mcp_gateway_inflight_requests 0');
  });
});

describe('while the gateway shuts down', () => {
  const config = (inFlight: string) => ({
    timing: { drain: { inFlight } },
    mcpServers: { up: stdioUpstream('plain.mjs', [record.path], { isolation: 'shared' }) },
  });

  test('calls of a batch that take too long end in it', async () => {
    const own = await startGateway(config('50ms'));
    const client = await open(own.url);
    client.send([ping(1), hold(2, 'drained')]);
    await holding('drained');
    await own.close();
    expect(await answers(client)).toEqual([
      pong(1),
      errorAnswer(2, -32603, 'The gateway is shutting down', DRAINING_DATA),
    ]);
    expect(await client.closed).toMatchObject({ code: 1001 });
  });

  test('a batch that cancels the last call is answered before the socket closes', async () => {
    const own = await startGateway(config('30s'));
    const client = await open(own.url);
    client.send(hold(1, 'last'));
    await holding('last');
    const closed = own.close();
    client.send([ping(2), cancellation(1), ping(3)]);
    expect(await answers(client)).toEqual([pong(2), pong(3)]);
    expect(await client.closed).toMatchObject({ code: 1001 });
    await closed;
  });
});
