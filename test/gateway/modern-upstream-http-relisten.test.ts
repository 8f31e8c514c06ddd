import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { hearModern } from '../support/heard-modern.ts';
import { done, ONE, subscribe, TWO, UPDATED, unexpected, updated } from '../support/listening-gateway.ts';
import { modernRequest } from '../support/modern-request.ts';
import { stamped } from '../support/modern-script.ts';
import { openRaw } from '../support/raw-client.ts';
import { type StatelessAsked, statelessUpstream } from '../support/stateless-upstream.ts';

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** A modern server over HTTP whose listens stay open, each on its own stream. */
async function openListens() {
  const listens: StatelessAsked[] = [];
  const upstream = await statelessUpstream(
    {
      'server/discover': ({ result }) =>
        result({ supportedVersions: ['2026-07-28'], capabilities: { resources: { subscribe: true } } }),
      'resources/list': ({ result }) => result({ resources: [{ uri: ONE, name: 'one' }] }),
      'resources/templates/list': ({ result }) =>
        result({ resourceTemplates: [{ uriTemplate: 'note://{name}', name: 'note' }] }),
      'subscriptions/listen': (asked) => {
        const { notifications } = asked.params;
        listens.push(asked);
        asked.tell(stamped(ACKNOWLEDGED, asked.id, { notifications: Object(notifications) }));
      },
    },
    { isolation: 'shared' },
  );
  return { upstream, listens };
}

test('an update on the stream of a listen that was just replaced is heard, and the stream then ends', async () => {
  const { upstream, listens } = await openListens();
  const gateway = await startGateway({ mcpServers: { up: upstream.entry } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  for (const uri of [ONE, TWO]) {
    subscribe(client, uri);
    expect(await client.json()).toEqual(done(uri));
  }
  const [first] = listens;
  if (first === undefined) throw new Error('no listen');
  const ended = once(first.exchange.response, 'close');
  first.tell(stamped(UPDATED, first.id, { uri: ONE }));
  expect(await client.json()).toEqual(updated(ONE));
  await ended;
  expect(listens.map(({ exchange }) => exchange.response.closed)).toEqual([true, false]);
  expect([await unexpected(gateway, 'late'), await unexpected(gateway, 'unknown')]).toEqual([0, 0]);
});

test('a stream that lingers ends with its channel', async () => {
  const { upstream, listens } = await openListens();
  const { channel, closed, failures, messages } = await hearModern(String(upstream.entry.url));
  channel.send(...modernRequest(1, 'subscriptions/listen', { notifications: {} }));
  await expect.poll(() => messages).toHaveLength(1);
  channel.forget?.(1, 3_600_000);
  const [listen] = listens;
  listen?.tell(stamped(UPDATED, 1, { uri: ONE }));
  await expect.poll(() => messages).toHaveLength(2);
  await channel.close();
  await expect.poll(() => listen?.exchange.response.closed).toBe(true);
  expect([closed, failures]).toEqual([[undefined], []]);
});
