import { expect, test } from 'vitest';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { type Asked, type ScriptedUpstream, scriptedUpstream } from '../support/scripted-upstream.ts';
import { refresh, secondsAfter, tokenGateway } from '../support/token-gateway.ts';

const POLICY = [
  { roles: ['both'], allow: { tools: ['**'], resources: ['**'], upstreams: ['one', 'two'] } },
  { roles: ['one'], allow: { tools: ['one/**'], resources: ['one:**'] } },
  { roles: ['calm'], deny: { tools: ['one/hold'] }, when: 'arguments.key == "denied"' },
];
const DONE = { jsonrpc: '2.0', id: 'r', result: { expiresAt: secondsAfter(600) } };
const changed = (kind: string) => ({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` });
const request = (id: string, method: string, params: object) => ({ jsonrpc: '2.0', id, method, params });

/** An upstream `<key>` whose tool `hold` is answered when told, and whose subscriptions are answered when `slow` is told. */
async function upstream(key: string, more: Readonly<Record<string, (asked: Asked) => void>> = {}) {
  const held: Asked[] = [];
  const resources = [`${key}:a`, `${key}:b`].map((uri) => ({ uri, name: uri }));
  const up = await scriptedUpstream({
    'tools/list': ({ result }) =>
      result({ tools: ['hold', 'run'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
    'resources/list': ({ result }) => result({ resources }),
    'tools/call': (asked) => {
      if (asked.params.name === 'hold') held.push(asked);
      else asked.result({ content: [{ type: 'text', text: 'ran' }] });
    },
    'resources/subscribe': ({ result }) => result({}),
    'resources/unsubscribe': ({ result }) => result({}),
    ...more,
  });
  const heard = (method: string) =>
    up.links.flatMap((link) => link.heard.filter((message) => message.method === method));
  return { ...up, held, heard };
}

/** The links opened with `initialize`, the first of them for the lists. */
const opened = ({ links }: ScriptedUpstream) =>
  links.filter(({ heard }) => heard.some(({ method }) => method === 'initialize'));

async function twoUpstreams() {
  const [one, two] = [await upstream('one'), await upstream('two')];
  const gateway = await tokenGateway({ policy: POLICY, mcpServers: { one: one.entry, two: two.entry } });
  return { ...gateway, one, two };
}

test('a call in flight to what is denied now is cancelled at its owner and answered as the same call is from then on', async () => {
  const { open, token, one, two } = await twoUpstreams();
  const client = await open(300, { roles: ['both'] });
  client.send(toolCall(1, 'one__hold'));
  client.send(toolCall('2', 'two__hold'));
  await expect.poll(() => [one.held.length, two.held.length]).toEqual([1, 1]);
  client.send(refresh('r', await token(600, { roles: ['one'] })));
  const denied = await client.next();
  expect(JSON.parse(denied)).toEqual(errorAnswer('2', -32602, 'Unknown tool: two__hold'));
  expect([await client.json(), await client.json()]).toEqual([changed('tools'), changed('resources')]);
  expect(await client.json()).toEqual(DONE);
  client.send(toolCall('2', 'two__hold'));
  expect(await client.next()).toBe(denied);
  await expect
    .poll(() => two.heard('notifications/cancelled'))
    .toMatchObject([{ params: { requestId: two.held[0]?.id } }]);
  one.held[0]?.result({ content: [{ type: 'text', text: 'held' }] });
  expect(await client.json()).toEqual(textAnswer(1, 'held'));
  expect(await client.barrier()).toEqual([]);
});

test('a rule that reads arguments is asked again with those of the call', async () => {
  const { open, token, one } = await twoUpstreams();
  const client = await open(300, { roles: ['one'] });
  client.send(toolCall(1, 'one__hold', { key: 'denied' }));
  client.send(toolCall(2, 'one__hold', { key: 'other' }));
  await expect.poll(() => one.held.length).toBe(2);
  client.send(refresh('r', await token(600, { roles: ['one', 'calm'] })));
  expect(await client.json()).toEqual(errorAnswer(1, -32602, 'Unknown tool: one__hold'));
  expect(await client.json()).toEqual(DONE);
  one.held[1]?.result({ content: [{ type: 'text', text: 'held' }] });
  expect(await client.json()).toEqual(textAnswer(2, 'held'));
});

test('the session’s own link to an upstream that is out of view is closed, and no other; in view again it has another', async () => {
  const { open, token, clock, one, two } = await twoUpstreams();
  const client = await open(300, { roles: ['both'] });
  const other = await open(900, { roles: ['both'], sub: 'bob' });
  for (const each of [client, other]) {
    expect(await each.ask(toolCall(1, 'one__run'))).toEqual(textAnswer(1, 'ran'));
    expect(await each.ask(toolCall(2, 'two__run'))).toEqual(textAnswer(2, 'ran'));
  }
  const [, ours, theirs] = opened(two);
  client.send(refresh('r', await token(600, { roles: ['one'] })));
  expect([await client.json(), await client.json(), await client.json()]).toContainEqual(DONE);
  await ours?.closed;
  expect(await other.ask(toolCall(3, 'two__run'))).toEqual(textAnswer(3, 'ran'));
  expect(await client.ask(toolCall(4, 'one__run'))).toEqual(textAnswer(4, 'ran'));
  clock.advance(30_000);
  client.send(refresh('again', await token(600, { roles: ['both'] })));
  expect([await client.json(), await client.json(), await client.json()]).toContainEqual({
    ...DONE,
    id: 'again',
    result: { expiresAt: secondsAfter(630) },
  });
  expect(await client.ask(toolCall(5, 'two__run'))).toEqual(textAnswer(5, 'ran'));
  expect(opened(two)).toHaveLength(4);
  expect(opened(one)).toHaveLength(3);
  expect(theirs?.heard.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
});

test('a subscription to what is denied now is heard no more and ended at its owner; another goes on', async () => {
  const { open, token, one, two } = await twoUpstreams();
  const shared = await open(300, { roles: ['both'] });
  for (const uri of ['one:a', 'two:a']) {
    expect(await shared.ask(request(uri, 'resources/subscribe', { uri }))).toEqual({
      jsonrpc: '2.0',
      id: uri,
      result: {},
    });
  }
  const links = [opened(one)[1], opened(two)[1]];
  shared.send(refresh('r', await token(600, { roles: ['one'] })));
  expect([await shared.json(), await shared.json(), await shared.json()]).toContainEqual(DONE);
  await links[1]?.closed;
  const update = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'one:a' } };
  links[0]?.send(update);
  expect(await shared.json()).toEqual(update);
  expect(await shared.ask(request('s', 'resources/subscribe', { uri: 'two:a' }))).toEqual(
    errorAnswer('s', -32002, 'Resource not found', { uri: 'two:a' }),
  );
});

test('one still being made at an upstream that goes out of view is answered as it is from then on', async () => {
  const slow: Asked[] = [];
  const [one, two] = [
    await upstream('one'),
    await upstream('two', { 'resources/subscribe': (asked) => slow.push(asked) }),
  ];
  const { open, token } = await tokenGateway({ policy: POLICY, mcpServers: { one: one.entry, two: two.entry } });
  const client = await open(300, { roles: ['both'] });
  client.send(request('s', 'resources/subscribe', { uri: 'two:a' }));
  await expect.poll(() => slow.length).toBe(1);
  client.send(refresh('r', await token(600, { roles: ['one'] })));
  const frames = [await client.json(), await client.json(), await client.json(), await client.json()];
  expect(frames).toContainEqual(DONE);
  expect(frames).toContainEqual(errorAnswer('s', -32002, 'Resource not found', { uri: 'two:a' }));
});

test('a list that changed before its upstream went out of view is not asked for any more', async () => {
  const { open, token, clock, two } = await twoUpstreams();
  const [client, other] = [await open(300, { roles: ['both'] }), await open(900, { roles: ['both'], sub: 'bob' })];
  await client.ask(toolCall(1, 'two__run'));
  const [, ours] = opened(two);
  ours?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  await client.ask(toolCall(2, 'two__run'));
  client.send(refresh('r', await token(600, { roles: ['one'] })));
  expect([await client.json(), await client.json(), await client.json()]).toContainEqual(DONE);
  await ours?.closed;
  const before = two.heard('tools/list').length;
  clock.advance(1000);
  await expect.poll(() => two.heard('tools/list').length).toBe(before + 1);
  expect(await other.ask(toolCall(3, 'two__run'))).toEqual(textAnswer(3, 'ran'));
  expect(opened(two)).toHaveLength(3);
});

test('on a link that stays the owner is told to end it, also one that was just being made', async () => {
  const slow: Asked[] = [];
  const up = await upstream('up', {
    'resources/subscribe': (asked) => (asked.params.uri === 'up:a' ? asked.result({}) : void slow.push(asked)),
  });
  const policy = [
    { roles: ['all'], allow: { resources: ['**'], tools: ['**'] } },
    { roles: ['tools'], allow: { tools: ['**'] } },
  ];
  const { open, token } = await tokenGateway({ policy, mcpServers: { up: up.entry } });
  const client = await open(300, { roles: ['all'] });
  await client.ask(request('a', 'resources/subscribe', { uri: 'up:a' }));
  client.send(request('b', 'resources/subscribe', { uri: 'up:b' }));
  await expect.poll(() => slow.length).toBe(1);
  client.send(refresh('r', await token(600, { roles: ['tools'] })));
  expect([await client.json(), await client.json()]).toEqual([changed('resources'), DONE]);
  slow[0]?.link.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'up:a' } });
  slow[0]?.result({});
  expect(await client.json()).toEqual(errorAnswer('b', -32002, 'Resource not found', { uri: 'up:b' }));
  await expect
    .poll(() => up.heard('resources/unsubscribe'))
    .toMatchObject([{ params: { uri: 'up:a' } }, { params: { uri: 'up:b' } }]);
  expect(await client.barrier()).toEqual([]);
});
