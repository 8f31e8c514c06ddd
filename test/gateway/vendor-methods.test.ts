import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { cancellation, errorAnswer } from '../support/messages.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';
import { makeIssuer } from '../support/tokens.ts';

const issuer = await makeIssuer();
const [one, two, shared, audit] = [recordFile(), recordFile(), recordFile(), recordFile()];
const gateway = fileGateway({
  auth: {
    mode: 'jwt',
    resource: issuer.audience,
    issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
  },
  audit: { sink: { file: audit.path } },
  limits: { inFlight: 2 },
  policy: [
    { roles: ['all'], allow: { methods: ['**'], tools: ['**'] } },
    { roles: ['some'], allow: { methods: ['one/acme/wait', 'one/acme/say', 'one/acme/loud'] } },
  ],
  mcpServers: {
    one: stdioUpstream('vendor.mjs', [one.path], { methods: ['acme/*'] }),
    two: stdioUpstream('vendor.mjs', [two.path], { methods: ['acme/**', 'globex/only'] }),
    shared: stdioUpstream('vendor.mjs', [shared.path], { isolation: 'shared', methods: ['open/*', 'acme/say'] }),
  },
});

async function openAs(role: string): Promise<RawClient> {
  const token = await issuer.sign({ sub: role, roles: [role] });
  return openRaw(gateway().url, { headers: { authorization: `Bearer ${token}` } });
}

async function connectModern(): Promise<RawClient> {
  const token = await issuer.sign({ sub: 'modern', roles: ['all'] });
  return connectRaw(gateway().url, { headers: { authorization: `Bearer ${token}` } });
}

function envelope(capabilities: object) {
  return {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
}

function request(id: string | number, method: string, params: object = {}) {
  return { jsonrpc: '2.0', id, method, params };
}

const say = (...texts: readonly string[]) => request('say', 'acme/say', { texts });
const SAID = { jsonrpc: '2.0', id: 'say', result: { content: [] } };

/** The same method, spelled with an escape. */
const escaped = (text: string) => text.replace('"acme/', '"acme\\/');
const news = (method: string) =>
  `{"jsonrpc":"2.0","method":"${method}","params":{ "n":1.0, "big":12345678901234567890}}`;
const NO_METHOD = (id: string | number) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"Method not found"}}`;

describe('a request of a vendor’s method', () => {
  test('goes to the upstream as it was written, and so does its answer come back, under the caller’s id', async () => {
    const client = await openAs('all');
    const params = '{ "n":1.0, "big":12345678901234567890, "name":"n","uri":"u://", "arguments":[1]}';
    client.send(`{"jsonrpc":"2.0","id":"x","method":"acme\\/look","params":${params}}`);
    const heard = `{"jsonrpc":"2.0","id":0,"method":"acme/look","params":${params}}`;
    expect(await client.next()).toBe(
      `{"jsonrpc":"2.0","id":"x","result":{"heard":${heard}, "big":12345678901234567890}}`,
    );
  });

  test('is answered with the upstream’s own error', async () => {
    const client = await openAs('all');
    expect(await client.ask(request(1, 'acme/fail'))).toEqual(
      errorAnswer(1, -32050, 'acme is closed', { until: 'noon' }),
    );
  });

  test('has its progress under the caller’s token', async () => {
    const client = await openAs('all');
    client.send(request(1, 'acme/work', { _meta: { progressToken: 'mine' } }));
    for (const progress of [1, 2]) {
      expect(await client.json()).toMatchObject({ params: { progressToken: 'mine', progress } });
    }
    expect(await client.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    expect(await client.ask(request(2, 'acme/work', { _meta: { progressToken: {} } }))).toMatchObject({
      id: 2,
      error: { code: -32602 },
    });
  });

  test('is cancelled at the upstream under its id there', async () => {
    const client = await openAs('all');
    client.send(request('w', 'acme/wait'));
    await expect.poll(one.lines).toContainEqual(expect.stringMatching(/^waiting \d+$/));
    const id = one
      .lines()
      .findLast((line) => line.startsWith('waiting '))
      ?.slice('waiting '.length);
    client.send(cancellation('w'));
    await expect.poll(one.lines).toContain(`cancelled ${id}`);
    expect(await client.barrier()).toEqual([]);
  });

  test('goes to the first upstream in the configuration that serves it', async () => {
    const client = await openAs('all');
    expect(await client.ask(request(1, 'acme/look', { first: true }))).toHaveProperty('result');
    expect(await client.ask(request(2, 'globex/only'))).toEqual(errorAnswer(2, -32601, 'Method not found'));
    expect(await client.ask(request(3, 'acme/deep/er'))).toEqual(errorAnswer(3, -32601, 'Method not found'));
    expect(one.lines()).toContainEqual(expect.stringContaining('"first":true'));
    expect(two.lines().filter((line) => line.includes('"id"'))).toEqual([
      '{"jsonrpc":"2.0","id":0,"method":"globex/only","params":{}}',
      '{"jsonrpc":"2.0","id":0,"method":"acme/deep/er","params":{}}',
    ]);
  });

  test('may go to a shared upstream', async () => {
    const client = await openAs('all');
    expect(await client.ask(request(1, 'open/any'))).toEqual(errorAnswer(1, -32601, 'Method not found'));
    await expect.poll(shared.lines).toContain('{"jsonrpc":"2.0","id":0,"method":"open/any","params":{}}');
  });

  test('of a modern client leaves its envelope behind', async () => {
    const client = await connectModern();
    expect(await client.ask(request(1, 'acme/look', { a: 1, _meta: envelope({}) }))).toMatchObject({
      result: { resultType: 'complete', heard: { method: 'acme/look', params: { a: 1, _meta: {} } } },
    });
  });

  test('that nobody serves is no method', async () => {
    const client = await openAs('all');
    const long = `acme/${'x'.repeat(252)}`;
    for (const method of ['other/thing', 'Acme/look', 'tasks/get', 'tasks/list', 'roots/list', 'acme', long]) {
      client.send(request(method, method));
      expect(await client.next()).toBe(NO_METHOD(method));
    }
    expect(
      one
        .lines()
        .concat(two.lines())
        .filter((line) => line.includes('tasks') || line.includes(long)),
    ).toEqual([]);
  });

  test('counts as other, at its upstream', async () => {
    const client = await openAs('all');
    await client.ask(request(1, 'acme/look'));
    const metrics = await gateway().metrics();
    expect(metrics).toMatch(/mcp_gateway_requests_total\{method="other",upstream="one",outcome="ok"\} \d/);
    expect(metrics).toMatch(/mcp_gateway_request_duration_seconds_count\{method="other",upstream="one"\} \d/);
    expect(metrics).not.toContain('acme');
  });
});

describe('a vendor’s method that policy denies', () => {
  test('is no method, whatever else is under way, and the upstream never hears of it', async () => {
    const client = await openAs('some');
    client.send(request('w1', 'acme/wait'));
    client.send(request('w2', 'acme/wait'));
    client.send(request(7, 'acme/look', { denied: true }));
    expect(await client.next()).toBe(NO_METHOD(7));
    client.send(request(7, 'nobody/look'));
    expect(await client.next()).toBe(NO_METHOD(7));
    expect(await client.ask(request(8, 'acme/wait'))).toMatchObject({
      error: { data: { reason: 'too_many_in_flight' } },
    });
    expect(one.lines().filter((line) => line.includes('"denied"'))).toEqual([]);
  });

  test('is written down as denied', async () => {
    const client = await openAs('some');
    await client.ask(request('judged', 'acme/look'));
    const lines = () =>
      readFileSync(audit.path, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"judged"'));
    await expect
      .poll(() => lines().map((line) => JSON.parse(line)))
      .toEqual([expect.objectContaining({ method: 'acme/look', upstream: 'one', decision: 'deny', rule: 'default' })]);
    expect(await gateway().metrics()).toMatch(/requests_total\{method="other",upstream="one",outcome="denied"\} \d/);
  });
});

test('what a refused call names is written down as the caller wrote it', async () => {
  const client = await openAs('some');
  await client.ask({ ...request('sought', 'tools/call'), params: { name: 'one__"nothing"\n' } });
  const lines = () =>
    readFileSync(audit.path, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"sought"'));
  await expect
    .poll(() => lines().map((line) => JSON.parse(line)))
    .toEqual([expect.objectContaining({ target: 'one__"nothing"\n', decision: 'deny' })]);
});

describe('a notification of a client', () => {
  const hint = news('acme/hint');

  test('reaches the upstream that serves it on the client’s own link, as it was written', async () => {
    const client = await openAs('all');
    await client.ask(request(1, 'acme/look'));
    await client.ask(request(2, 'globex/only'));
    client.send(escaped(news('acme/heard')));
    await client.ask(request(3, 'acme/look'));
    await client.ask(request(4, 'globex/only'));
    expect(one.lines().filter((line) => line.includes('acme/heard'))).toEqual([news('acme/heard')]);
    expect(two.lines().filter((line) => line.includes('acme/heard'))).toEqual([]);
  });

  test('opens no link', async () => {
    const client = await openAs('all');
    client.send(news('acme/early'));
    await client.ask(request(1, 'acme/look'));
    await client.ask(request(2, 'acme/look'));
    expect(one.lines().filter((line) => line.includes('acme/early'))).toEqual([]);
  });

  test('reaches no shared link, and no upstream that policy keeps from the client', async () => {
    const [all, some] = [await openAs('all'), await openAs('some')];
    await all.ask(request(1, 'open/any'));
    all.send(news('open/hint'));
    await all.ask(request(2, 'open/any'));
    some.send(say());
    expect(await some.json()).toEqual(SAID);
    some.send(hint);
    some.send(news('acme/loud'));
    expect(await some.ask(say())).toEqual(SAID);
    expect(shared.lines().filter((line) => line.includes('open/hint'))).toEqual([]);
    expect(one.lines().filter((line) => line.includes('acme/hint'))).toEqual([]);
    expect(one.lines()).toContain(news('acme/loud'));
  });
});

describe('a notification of an upstream', () => {
  test('reaches the client behind the link as it was written, and no one else', async () => {
    const [client, other] = [await openAs('all'), await openAs('all')];
    expect(await other.ask(say())).toEqual(SAID);
    client.send(say(escaped(news('acme/news'))));
    expect(await client.next()).toBe(news('acme/news'));
    expect(await client.json()).toEqual(SAID);
    expect(await other.barrier()).toEqual([]);
  });

  test('reaches a modern client, also from a link that serves one call', async () => {
    const client = await connectModern();
    const given = { name: 'one__say', arguments: { texts: [news('acme/news')] }, _meta: envelope({ elicitation: {} }) };
    client.send(request('say', 'tools/call', given));
    expect(await client.next()).toBe(news('acme/news'));
    expect(await client.json()).toMatchObject({ id: 'say', result: { resultType: 'complete' } });
  });

  test('passes only where that upstream serves its method', async () => {
    const client = await openAs('all');
    const strange = ['globex/only', 'notifications/acme', 'acme', 'acme/a/b', 'rpc.acme'].map(news);
    client.send(say(...strange, news('acme/last')));
    expect(await client.next()).toBe(news('acme/last'));
    expect(await client.json()).toEqual(SAID);
  });

  test('passes only where policy lets it', async () => {
    const client = await openAs('some');
    client.send(say(news('acme/news'), news('acme/loud')));
    expect(await client.next()).toBe(news('acme/loud'));
    expect(await client.json()).toEqual(SAID);
  });

  test('reaches nobody from a shared link', async () => {
    const client = await openAs('all');
    const { lines } = shared;
    client.send(request(1, 'open/say', { texts: [news('open/news'), news('acme/say')] }));
    expect(await client.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } });
    expect(lines()).toContainEqual(expect.stringContaining('"method":"open/say"'));
    expect(await client.barrier()).toEqual([]);
  });
});
