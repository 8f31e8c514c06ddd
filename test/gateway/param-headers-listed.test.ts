import { expect, test } from 'vitest';
import { CLIENT_ERAS, type EraClient, openEra } from '../support/era-client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { type StatelessAsked, type StatelessScript, statelessUpstream } from '../support/stateless-upstream.ts';

const MISMATCH = { code: -32020, message: 'Header mismatch' };
const UNAVAILABLE = [
  -32603,
  'The upstream cannot be reached',
  { reason: 'upstream_unavailable', retryable: true },
] as const;

const tool = (name: string, header: unknown) => {
  return { name, inputSchema: { type: 'object', properties: { v: { type: 'string', 'x-mcp-header': header } } } };
};

const list = (...tools: readonly object[]) => ({ tools, ttlMs: 0, cacheScope: 'private' });

/** A server that lists one tool, whose header is another after the first listing, and refuses what lacks it. */
function renaming(names: readonly unknown[]): StatelessScript {
  let lists = 0;
  return {
    'tools/list': ({ result }) => {
      lists += 1;
      result(list(tool('act', names[Math.min(lists, names.length) - 1])));
    },
    'tools/call': ({ exchange, result, error }) => {
      const name = `mcp-param-${String(names.at(-1)).toLowerCase()}`;
      if (exchange.headers[name] === 'x') result({ content: [] });
      else error(MISMATCH);
    },
  };
}

async function open(script: StatelessScript, listChangeCoalesce = '1ms') {
  const upstream = await statelessUpstream(script);
  const gateway = await startGateway({ mcpServers: { up: upstream.entry }, timing: { listChangeCoalesce } });
  await gateway.ready();
  return { upstream, gateway };
}

/** The answer to a call of the tool; that the tools have changed is told before it or after. */
async function answerOf({ raw, request }: EraClient, given: object): Promise<unknown> {
  raw.send(request('call', 'tools/call', { name: 'up__act', arguments: given }));
  for (;;) {
    const frame = await raw.next();
    if (frame.includes('"id":"call"')) return JSON.parse(frame);
  }
}

const calls = (asked: readonly StatelessAsked[]) => asked.filter(({ method }) => method === 'tools/call');
const paramsOf = ({ exchange }: StatelessAsked) =>
  Object.entries(exchange.headers).filter(([name]) => name.startsWith('mcp-param-'));
const lists = (asked: readonly StatelessAsked[]) => asked.filter(({ method }) => method === 'tools/list').length;
const names = async ({ url }: TestGateway) => {
  const client = await openRaw(url);
  return JSON.stringify(await client.ask({ jsonrpc: '2.0', id: 'l', method: 'tools/list' })).match(/up__\w+/g);
};

test.each(CLIENT_ERAS)(
  'refused for its headers, a call of a %s client is sent once more by the tools as they are now',
  async (era) => {
    const { upstream, gateway } = await open(renaming(['Old', 'New']));
    const client = await openEra(era, gateway.url);
    expect(await answerOf(client, { v: 'x' })).toMatchObject({ id: 'call', result: { content: [] } });
    expect(calls(upstream.asked).map(paramsOf)).toEqual([[['mcp-param-old', 'x']], [['mcp-param-new', 'x']]]);
    expect(lists(upstream.asked)).toBe(2);
  },
);

test.each(CLIENT_ERAS)(
  'a call of a %s client is not sent again where nothing has changed, nor a third time',
  async (era) => {
    const same = await open(renaming(['Old']));
    const one = await openEra(era, same.gateway.url);
    const given = { v: 'y' };
    expect(await answerOf(one, given)).toEqual(errorAnswer('call', ...UNAVAILABLE));
    expect([calls(same.upstream.asked).length, lists(same.upstream.asked)]).toEqual([1, 2]);
    const restless = await open(renaming(['Old', 'Newer', 'Newest']));
    const other = await openEra(era, restless.gateway.url);
    expect(await answerOf(other, given)).toEqual(errorAnswer('call', ...UNAVAILABLE));
    expect([calls(restless.upstream.asked).length, lists(restless.upstream.asked)]).toEqual([2, 2]);
  },
);

test('a caller that is refused again and again has the tools listed no oftener than they may be', async () => {
  const { upstream, gateway } = await open(renaming(['Old']), '1h');
  const client = await openRaw(gateway.url);
  for (const id of [1, 2, 3]) {
    const params = { name: 'up__act', arguments: { v: 'y' } };
    const answer = await client.ask({ jsonrpc: '2.0', id, method: 'tools/call', params });
    expect(answer).toEqual(errorAnswer(id, ...UNAVAILABLE));
  }
  expect([calls(upstream.asked).length, lists(upstream.asked)]).toEqual([3, 1]);
});

test('cancelled while the tools are listed anew, a call is not sent again', async () => {
  const script = renaming(['Old', 'New']);
  const held: StatelessAsked[] = [];
  const relist: StatelessScript = {
    ...script,
    'tools/list': (asked) => {
      held.push(asked);
      if (held.length === 1) script['tools/list']?.(asked);
    },
  };
  const { upstream, gateway } = await open(relist);
  const client = await openRaw(gateway.url);
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'up__act', arguments: { v: 'x' } } });
  await expect.poll(() => held.length).toBe(2);
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  expect(await client.barrier()).toEqual([]);
  const [, again] = held;
  if (again !== undefined) script['tools/list']?.(again);
  await client.next();
  expect(await client.barrier()).toEqual([]);
  expect(calls(upstream.asked)).toHaveLength(1);
});

test('tools that may not be called over HTTP are left out, named in the log, and hide no other', async () => {
  const { gateway, upstream } = await open({
    'tools/list': ({ result }) => result(list(tool('good', 'Fine'), tool('spaced', 'a b'), tool('nameless', ''))),
    'tools/call': ({ result }) => result({ content: [] }),
  });
  expect(await names(gateway)).toEqual(['up__good']);
  const client = await openRaw(gateway.url);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'up__spaced', arguments: { v: 'x' } } };
  expect(await client.ask(call)).toEqual(errorAnswer(1, -32602, 'Unknown tool: up__spaced'));
  expect(calls(upstream.asked)).toEqual([]);
  const reason = 'an x-mcp-header is no name of a header';
  expect(gateway.log.filter(({ event }) => event === 'tool_refused')).toEqual([
    { level: 'warn', event: 'tool_refused', fields: { upstream: 'up', tool: 'spaced', reason } },
    { level: 'warn', event: 'tool_refused', fields: { upstream: 'up', tool: 'nameless', reason } },
  ]);
});
