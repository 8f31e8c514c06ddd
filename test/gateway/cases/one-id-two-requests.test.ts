import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { errorAnswer } from '../../support/messages.ts';

const record = recordFile();
const content = (text: string) => ({ content: [{ type: 'text', text }] });
const refused = errorAnswer(null, -32600, 'Invalid Request: the id is in flight');

test('a second request under an id in flight is refused, the first keeps its answer, and then the id is free', async () => {
  const { url, ready } = await startGateway({
    mcpServers: {
      own: stdioUpstream('plain.mjs', [record.path]),
      all: stdioUpstream('plain.mjs', [record.path], { isolation: 'shared' }),
    },
  });
  await ready();
  for (const era of CLIENT_ERAS) {
    for (const upstream of ['own', 'all']) {
      const client = await openEra(era, url);
      const call = (id: string | number, tool: string, given: object) =>
        client.request(id, 'tools/call', { name: `${upstream}__${tool}`, arguments: given });
      const key = `${era} ${upstream}`;
      client.raw.send(call(7, 'hold', { key }));
      await expect.poll(() => record.lines()).toContain(`holding ${key}`);
      const before = record.lines().length;
      expect(await client.raw.ask(call(7, 'echo', { text: 'second' }))).toEqual(refused);
      expect(await client.ask(7, 'tools/list')).toEqual(refused);
      expect(await client.raw.ask(call('7', 'echo', { text: 'another' }))).toEqual(
        client.result('7', content('another')),
      );
      expect(record.lines().slice(before)).toEqual(['called echo']);
      client.raw.send(call(8, 'release', { key }));
      expect([await client.raw.json(), await client.raw.json()]).toEqual(
        expect.arrayContaining([client.result(7, content(key)), client.result(8, content('released'))]),
      );
      expect(await client.raw.ask(call(7, 'echo', { text: 'again' }))).toEqual(client.result(7, content('again')));
      expect(await client.pending()).toEqual([]);
    }
  }
});
