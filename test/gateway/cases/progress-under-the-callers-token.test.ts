import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { offering, type Script, scriptedUpstream } from '../../support/scripted-upstream.ts';
import { statelessTools, statelessUpstream } from '../../support/stateless-upstream.ts';

const progress = (progressToken: unknown, value: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken, progress: value },
});

/** Tells of its progress under the token it was given, if any, and under many it was not. */
function work(id: unknown, token: unknown, tell: (message: object) => void): void {
  const invented = ['made-up', 'tok-1', '', '0', '1', 0, 1, 2, 7, id].filter((other) => other !== token);
  for (const each of token === undefined ? invented : [...invented, token]) tell(progress(each, 1));
}

test('progress comes under exactly the token of the call, and to a call without one not at all', async () => {
  const script: Script = {
    ...offering('work'),
    'tools/call': ({ id, params, link, result }) => {
      work(id, params._meta?.progressToken, link.send);
      result({ content: [] });
    },
  };
  const own = await scriptedUpstream(script);
  const all = await scriptedUpstream(script, { isolation: 'shared' });
  const modern = await statelessUpstream({
    ...statelessTools('work'),
    'tools/call': ({ id, params, tell, result }) => {
      work(id, params._meta?.progressToken, tell);
      result({ content: [] });
    },
  });
  const { url, ready } = await startGateway({
    mcpServers: { own: own.entry, all: all.entry, modern: modern.entry },
  });
  await ready();
  for (const era of CLIENT_ERAS) {
    for (const name of ['own__work', 'all__work', 'modern__work']) {
      const client = await openEra(era, url);
      const done = (id: number) => ({ jsonrpc: '2.0', id, result: { content: [] } });
      expect(await client.ask(1, 'tools/call', { name })).toMatchObject(done(1));
      for (const token of ['tok-1', 7, '7']) {
        client.raw.send(client.request(2, 'tools/call', { name }, { progressToken: token }));
        expect(await client.raw.json()).toEqual(progress(token, 1));
        expect(await client.raw.json()).toMatchObject(done(2));
      }
      expect(await client.pending()).toEqual([]);
    }
  }
});
