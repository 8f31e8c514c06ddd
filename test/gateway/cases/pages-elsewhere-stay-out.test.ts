import { expect, test } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import { connectRaw } from '../../support/raw-client.ts';
import { APP, browserConfig, issuer } from '../../support/ticketed-gateway.ts';
import { upgrade } from '../../support/upgrade-request.ts';

const EVIL = 'https://evil.example';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

test('a page at an origin that is not listed is refused before 101, whatever it brings; a client without an Origin is not', async () => {
  const anonymous = await startGateway({ origins: [APP] });
  const unlisted = await startGateway({});
  const guarded = await startGateway(browserConfig());
  const token = await issuer.sign();
  const bearer = { authorization: `Bearer ${token}` };
  const offers = { 'sec-websocket-protocol': `mcp, mcp.auth.${token}` };
  for (const { url } of [anonymous, unlisted, guarded]) {
    for (const more of [{}, bearer, offers]) {
      const { status, body } = await upgrade(url, { headers: { origin: EVIL, ...more } });
      expect([status, body]).toEqual([403, '{"error":"origin"}']);
    }
  }
  for (const [{ url }, headers] of [
    [anonymous, {}],
    [unlisted, {}],
    [guarded, bearer],
  ] as const) {
    const client = await connectRaw(url, { headers });
    expect(await client.ask(PING)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  }
});
