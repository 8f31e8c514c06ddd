import { expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';

const record = recordFile();
const gateway = fileGateway({ mcpServers: { raw: stdioUpstream('raw.mjs', [record.path], { isolation: 'shared' }) } });

test.each(['true', '1.5', '{"a":1}', '12345678901234567890', '[7]', 'null', `"${'x'.repeat(1500)}"`])(
  'a progress token the gateway cannot read is refused, and the upstream never sees it: %s',
  async (token) => {
    const client = await openRaw(gateway().url);
    client.send(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"raw__echo","_meta":{"progressToken":${token}}}}`,
    );
    expect(await client.json()).toMatchObject({ id: 1, error: { code: -32602 } });
    expect(record.lines().filter((line) => line.includes('tools/call'))).toEqual([]);
  },
);

test.each(['[]', '"x"', '7'])('a _meta that is no object is refused: %s', async (meta) => {
  const client = await openRaw(gateway().url);
  client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"raw__echo","_meta":${meta}}}`);
  expect(await client.json()).toMatchObject({ id: 1, error: { code: -32602 } });
  expect(record.lines().filter((line) => line.includes('tools/call'))).toEqual([]);
});
