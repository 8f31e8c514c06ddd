import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';

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
  const renamed = definition.replace('"name":"whole"', '"name":"up__whole"');
  for (const era of CLIENT_ERAS) {
    const client = await openEra(era, url);
    client.raw.send(client.request(1, 'tools/list'));
    expect(await client.raw.next()).toContain(`"tools":[${renamed}]}}`);
  }
});
