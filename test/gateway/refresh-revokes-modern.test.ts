import { expect, test } from 'vitest';
import { errorAnswer } from '../support/messages.ts';
import { inputRequired, modernRequest } from '../support/modern-messages.ts';
import { type Asked, scriptedUpstream } from '../support/scripted-upstream.ts';
import { secondsAfter, tokenGateway } from '../support/token-gateway.ts';

const POLICY = [
  { roles: ['all'], allow: { tools: ['**'], resources: ['**'], prompts: ['**'] } },
  { roles: ['some'], allow: { tools: ['up/run', 'up/read'], resources: ['up:a', 'up:tool'] } },
  { roles: ['tools'], allow: { tools: ['**'] } },
];
const SERVER_INFO = { 'io.modelcontextprotocol/serverInfo': { name: 'mcp-ws-gateway', version: expect.any(String) } };
const of = (id: string) => ({ 'io.modelcontextprotocol/subscriptionId': id });
const over = (id: string) => ({
  jsonrpc: '2.0',
  id,
  result: { resultType: 'complete', _meta: { ...SERVER_INFO, ...of(id) } },
});
const renewed = {
  jsonrpc: '2.0',
  id: 'r',
  result: { resultType: 'complete', expiresAt: secondsAfter(600), _meta: SERVER_INFO },
};
/** It may come before or among the frames of listens. */
const isRenewed = (frame: unknown) => typeof frame === 'object' && frame !== null && 'id' in frame && frame.id === 'r';
const listen = (id: string, notifications: object) => modernRequest(id, 'subscriptions/listen', { notifications });
const call = (id: string, name: string, more: object = {}) =>
  modernRequest(id, 'tools/call', { name, arguments: {}, ...more }, { capabilities: { elicitation: { form: {} } } });

/** An upstream whose tool `ask` asks its caller something, and whose `hold` is answered by the test. */
async function gatewayFor() {
  const held: Asked[] = [];
  const up = await scriptedUpstream({
    initialize: ({ result }) =>
      result({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: { subscribe: true } },
        serverInfo: { name: 'up', version: '1' },
      }),
    'tools/list': ({ result }) =>
      result({ tools: ['run', 'hold', 'ask'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
    'resources/list': ({ result }) => result({ resources: ['up:a', 'up:b'].map((uri) => ({ uri, name: uri })) }),
    'resources/read': (asked) => void held.push(asked),
    'resources/subscribe': ({ result }) => result({}),
    'resources/unsubscribe': ({ result }) => result({}),
    'tools/call': (asked) => {
      held.push(asked);
      const params = { mode: 'form', message: 'who?', requestedSchema: { type: 'object', properties: {} } };
      if (asked.params.name === 'ask')
        asked.link.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params });
    },
  });
  const gateway = await tokenGateway({ policy: POLICY, mcpServers: { up: up.entry } });
  const client = await gateway.connect(300, { roles: ['all'] });
  const refreshAs = async (role: string) =>
    client.send(modernRequest('r', 'ws-gateway/refreshToken', { token: await gateway.token(600, { roles: [role] }) }));
  const heard = (method: string) =>
    up.links.flatMap((link) => link.heard.filter((message) => message.method === method));
  return { ...gateway, client, refreshAs, heard, held };
}

test('calls in flight end as the same request ends from then on, in the words of this era', async () => {
  const { client, refreshAs, held, heard } = await gatewayFor();
  client.send(call('1', 'up__hold'));
  client.send(modernRequest('2', 'resources/read', { uri: 'up:b' }));
  await expect.poll(() => held.length).toBe(2);
  await refreshAs('some');
  const denied = [await client.next(), await client.next()];
  expect(denied.map((frame) => JSON.parse(frame))).toEqual(
    expect.arrayContaining([
      errorAnswer('1', -32602, 'Unknown tool: up__hold'),
      errorAnswer('2', -32602, 'Resource not found', { uri: 'up:b' }),
    ]),
  );
  expect(await client.json()).toEqual(renewed);
  client.send(call('1', 'up__hold'));
  expect(denied).toContain(await client.next());
  client.send(modernRequest('2', 'resources/read', { uri: 'up:b' }));
  expect(denied).toContain(await client.next());
  await expect.poll(() => heard('notifications/cancelled').length).toBe(2);
});

test('a listen to what is denied now hears of the change, ends with its result, and is ended at the owner; others go on', async () => {
  const { client, refreshAs, heard } = await gatewayFor();
  await client.ask(listen('both', { toolsListChanged: true, resourceSubscriptions: ['up:a', 'up:b'] }));
  await client.ask(listen('one', { resourceSubscriptions: ['up:a'] }));
  await expect.poll(() => heard('resources/subscribe').length).toBe(2);
  await refreshAs('some');
  const frames: unknown[] = [await client.json(), await client.json(), await client.json()];
  expect(frames.toSorted((a, b) => Number(isRenewed(b)) - Number(isRenewed(a)))).toEqual([
    renewed,
    { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta: of('both') } },
    over('both'),
  ]);
  await expect.poll(() => heard('resources/unsubscribe')).toMatchObject([{ params: { uri: 'up:b' } }]);
  expect(await client.ask(listen('both', { resourceSubscriptions: ['up:a', 'up:b'] }))).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { resourceSubscriptions: ['up:a'] }, _meta: of('both') },
  });
});

test('where less is announced now every listen ends, and server/discover says so', async () => {
  const { client, refreshAs } = await gatewayFor();
  await client.ask(listen('tools', { toolsListChanged: true }));
  expect(await client.ask(modernRequest(1, 'server/discover'))).toHaveProperty('result.capabilities.resources');
  await refreshAs('nothing');
  const frames = [await client.json(), await client.json(), await client.json()];
  expect(frames).toContainEqual(over('tools'));
  expect(await client.ask(modernRequest(2, 'server/discover'))).toHaveProperty('result.capabilities', {
    extensions: { 'ws-gateway/token': {} },
  });
  expect(await client.ask(call('3', 'up__run'))).toEqual(errorAnswer('3', -32601, 'Method not found'));
});

test('a call that waits for its client is over at the upstream, and is denied when the client comes back', async () => {
  const { client, refreshAs, heard } = await gatewayFor();
  const asked = inputRequired(await client.ask(call('1', 'up__ask')));
  await refreshAs('some');
  expect([await client.json()]).toEqual([renewed]);
  await expect.poll(() => heard('notifications/cancelled').length).toBe(1);
  const { requestState } = asked.result;
  expect(await client.ask(call('2', 'up__ask', { requestState, inputResponses: {} }))).toEqual(
    errorAnswer('2', -32602, 'Unknown tool: up__ask'),
  );
});
