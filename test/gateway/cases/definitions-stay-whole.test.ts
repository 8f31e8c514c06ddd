import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { openRaw } from '../../support/raw-client.ts';

const definition =
  '{"title":"T","name":"whole","description":"D","inputSchema":{"type":"object","$defs":{"n":{"maximum":9223372036854775807}}},' +
  '"outputSchema":{"type":"object"},"icons":[{"src":"data:,","sizes":["any"]}],"annotations":{"readOnlyHint":true,"x":null},' +
  '"execution":{"taskSupport":"optional"},"_meta":{"vendor/key":[1.0]},"vendorField":{"name":"whole"}}';

test("a tool definition equals the upstream's in everything but its name", async () => {
  const { url, ready } = await startGateway({
    mcpServers: {
      up: stdioUpstream('lists.mjs', ['', JSON.stringify({ pages: [`[${definition}]`] })], { isolation: 'shared' }),
    },
  });
  await ready();
  const client = await openRaw(url);
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const renamed = definition.replace('"name":"whole"', '"name":"up__whole"');
  expect(await client.next()).toBe(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${renamed}]}}`);
});
