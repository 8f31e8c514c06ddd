import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';

const record = recordFile();
const LISTING = JSON.stringify({
  pages: ['[{"name":"exact"}]'],
  answer: '{"content":[],"structuredContent":{"n":9223372036854775807}}',
});

test('9223372036854775807 arrives unchanged in arguments and in the result', async () => {
  const { url, ready } = await startGateway({
    mcpServers: { up: stdioUpstream('lists.mjs', [record.path, LISTING], { isolation: 'shared' }) },
  });
  await ready();
  for (const [at, era] of CLIENT_ERAS.entries()) {
    const client = await openEra(era, url);
    const call = JSON.stringify(client.request(1, 'tools/call', { name: 'up__exact', arguments: { n: 'N' } }));
    client.raw.send(call.replace('"N"', '9223372036854775807'));
    expect(await client.raw.next()).toContain('"content":[],"structuredContent":{"n":9223372036854775807}}}');
    const lines = record.lines().filter((line) => line.startsWith('line'));
    expect(lines).toHaveLength(at + 1);
    expect(lines[at]).toContain('"arguments":{"n":9223372036854775807}');
  }
});
