import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { type Asked, type Script, scriptedUpstream } from '../support/scripted-upstream.ts';

const OPENED = {
  protocolVersion: '2025-11-25',
  capabilities: { resources: { subscribe: true } },
  serverInfo: { name: 'scripted', version: '1' },
};
const notes = (from: number, count: number) => Array.from({ length: count }, (_, at) => `note://${from + at}`);

/** A gateway before an upstream whose links for sessions open as `open` says, a client, and what is subscribed to there. */
async function opening(open: (asked: Asked) => void, limits: object = {}) {
  const subscribed = new Set<string>();
  let isListed = false;
  const script: Script = {
    initialize: (asked) => (isListed ? open(asked) : asked.result(OPENED)),
    'resources/subscribe': ({ params, result }) => {
      subscribed.add(String(params.uri));
      result({});
    },
    'resources/unsubscribe': ({ params, result }) => {
      subscribed.delete(String(params.uri));
      result({});
    },
  };
  const upstream = await scriptedUpstream(script, { isolation: 'session', uris: ['note://**'] });
  const gateway = await startGateway({ mcpServers: { up: upstream.entry }, limits });
  await gateway.ready();
  isListed = true;
  const client = await connectRaw(gateway.url);
  return { gateway, client, subscribed };
}

/** The same, where a session's link opens when the test says so. */
async function slowlyOpening(limits: object = {}) {
  const held: Asked[] = [];
  const open = () => {
    for (const { result } of held) result(OPENED);
  };
  const parts = await opening((asked) => void held.push(asked), limits);
  return { ...parts, held, open };
}

function send(client: RawClient, id: string, uris: readonly string[]): void {
  client.send(modernRequest(id, 'subscriptions/listen', { notifications: { resourceSubscriptions: uris } }));
}

async function listen(client: RawClient, id: string, uris: readonly string[]): Promise<readonly string[]> {
  send(client, id, uris);
  const acknowledged = await client.json();
  expect(acknowledged).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
  });
  const { params } = acknowledged as { params: { notifications: { resourceSubscriptions?: string[] } } };
  return params.notifications.resourceSubscriptions ?? [];
}

function cancel(client: RawClient, requestId: string): void {
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
}

const sorted = (uris: Iterable<string>) => [...uris].sort();

test('a filter changed while the link opens is what the owner is subscribed to, no more and no less', async () => {
  const { client, held, open, subscribed, gateway } = await slowlyOpening();
  expect(await listen(client, 'a', notes(0, 60))).toEqual(notes(0, 60));
  await expect.poll(() => held.length).toBe(1);
  cancel(client, 'a');
  expect(await listen(client, 'b', notes(100, 60))).toEqual(notes(100, 60));
  open();
  await expect.poll(() => sorted(subscribed)).toEqual(sorted(notes(100, 60)));
  expect(gateway.log.filter(({ event }) => event === 'listen_failed')).toEqual([]);
});

test('nothing stays subscribed to that was listened to and cancelled in one breath, also before the first listen is served', async () => {
  const { client, held, open, subscribed } = await slowlyOpening({ requestsPerSecond: null });
  for (const uri of notes(0, 200)) {
    send(client, uri, [uri]);
    cancel(client, uri);
  }
  send(client, 'last', ['note://last']);
  await expect.poll(() => held.length).toBe(1);
  open();
  await expect.poll(() => sorted(subscribed)).toEqual(['note://last']);
});

test('cancelled ones take room until their owner has answered; what finds none is not acknowledged', async () => {
  const { client, held, open, subscribed } = await slowlyOpening({ subscriptions: 2 });
  for (const from of [0, 2, 4, 6]) {
    expect(await listen(client, `${from}`, notes(from, 2))).toEqual(notes(from, 2));
    await expect.poll(() => held.length).toBe(1);
    cancel(client, `${from}`);
  }
  expect(await listen(client, 'over', notes(7, 3))).toEqual(['note://7']);
  cancel(client, 'over');
  open();
  await expect.poll(() => listen(client, 'later', notes(20, 3)).finally(() => cancel(client, 'later'))).toHaveLength(2);
  await listen(client, 'end', ['note://30']);
  await expect.poll(() => sorted(subscribed)).toEqual(['note://30']);
});

test('a listen opened while its owner is down is served when that is back, told of what it may have missed, and logged once', async () => {
  let attempts = 0;
  const { client, subscribed, gateway } = await opening(({ link, result }) => {
    attempts += 1;
    if (attempts > 2) result(OPENED);
    else link.hangUp();
  });
  expect(await listen(client, 's', ['note://1', 'note://2'])).toEqual(['note://1', 'note://2']);
  const heard = [await client.json(), await client.json()];
  const updated = (uri: string) => ({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri, _meta: { 'io.modelcontextprotocol/subscriptionId': 's' } },
  });
  expect(heard).toEqual([updated('note://1'), updated('note://2')]);
  expect([sorted(subscribed), attempts]).toEqual([['note://1', 'note://2'], 3]);
  const failures = gateway.log.filter(({ event }) => event === 'listen_failed');
  const reason = 'upstream_unavailable';
  const session = expect.any(String);
  expect(failures).toEqual([
    { level: 'warn', event: 'listen_failed', fields: { session, uri: 'note://1', reason } },
    { level: 'warn', event: 'listen_failed', fields: { session, uri: 'note://2', reason } },
  ]);
  cancel(client, 's');
  await expect.poll(() => sorted(subscribed)).toEqual([]);
}, 15_000);
