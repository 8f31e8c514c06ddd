import { expect, test } from 'vitest';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { openRaw } from '../../support/raw-client.ts';

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
  const client = await openRaw(url);
  client.send(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__exact","arguments":{"n":9223372036854775807}}}',
  );
  expect(await client.next()).toBe(
    '{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"n":9223372036854775807}}}',
  );
  expect(record.lines().at(-1)).toContain('"arguments":{"n":9223372036854775807}');
});
