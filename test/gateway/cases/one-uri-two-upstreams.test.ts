import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra, UNCACHED } from '../../support/era-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { type Script, scriptedUpstream } from '../../support/scripted-upstream.ts';

const uri = 'timezone://info';

/** Has the resource, and says on reading who was asked; lists when `when` says so. */
function holder(name: string, when: Promise<void> = Promise.resolve()): Script {
  return {
    'resources/list': ({ result }) => void when.then(() => result({ resources: [{ uri, name }] })),
    'resources/read': ({ result }) => result({ contents: [{ uri, text: name }] }),
    'resources/subscribe': ({ result }) => result({}),
  };
}

test('a URI of two upstreams is listed once and read from the first in the configuration, whichever listed it first', async () => {
  let release = (): void => {};
  const late = new Promise<void>((resolve) => {
    release = resolve;
  });
  const shared = { isolation: 'shared' };
  const first = await scriptedUpstream(holder('first', late), shared);
  const second = await scriptedUpstream(holder('second'), shared);
  const gateway = await startGateway({ mcpServers: { first: first.entry, second: second.entry } });
  const requests = (of: typeof first, method: string) =>
    of.links.flatMap(({ heard }) => heard.filter((message) => message.method === method));
  await expect.poll(() => requests(second, 'resources/list')).toHaveLength(1);
  await expect.poll(() => requests(second, 'resources/templates/list')).toHaveLength(1);
  release();
  await gateway.ready();
  for (const era of CLIENT_ERAS) {
    const client = await openEra(era, gateway.url);
    expect(await client.ask(1, 'resources/list')).toMatchObject({ id: 1, result: { resources: [{ name: 'first' }] } });
    for (const id of [2, 3]) {
      expect(await client.ask(id, 'resources/read', { uri })).toEqual(
        client.result(id, { contents: [{ uri, text: 'first' }] }, UNCACHED),
      );
    }
  }
  const client = await openEra('handshake', gateway.url);
  expect(await client.ask(1, 'resources/subscribe', { uri })).toEqual(client.result(1, {}));
  expect(requests(first, 'resources/read')).toHaveLength(4);
  expect(requests(first, 'resources/subscribe')).toHaveLength(1);
  expect([...requests(second, 'resources/read'), ...requests(second, 'resources/subscribe')]).toEqual([]);
  expect(gateway.log.filter(({ event }) => event === 'uri_clash').map(({ fields }) => fields)).toContainEqual({
    upstream: 'second',
    count: 1,
    uri,
    holder: 'first',
  });
});
