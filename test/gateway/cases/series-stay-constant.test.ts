import { expect, test } from 'vitest';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { openRaw } from '../../support/raw-client.ts';
import { makeIssuer, type TestClaims } from '../../support/tokens.ts';
import { upgrade } from '../../support/upgrade-request.ts';

const TOGETHER = 20;
const CLIENTS = 1_000;
const issuer = await makeIssuer();
const bearer = async (claims: TestClaims) => ({ authorization: `Bearer ${await issuer.sign(claims)}` });

/** A client of its own that gives values nobody gave before wherever it can: id, tool, method, close code, issuer, origin. */
async function visit(url: string, n: number): Promise<void> {
  const client = await openRaw(url, { headers: await bearer({ sub: `user-${n}` }) });
  expect(await client.ask(toolCall(`call-${n}`, 'up__echo', { text: 'hello' }))).toEqual(
    textAnswer(`call-${n}`, 'hello'),
  );
  expect(await client.ask(toolCall(2, `nothing-${n}`))).toHaveProperty('error.code', -32602);
  expect(await client.ask({ jsonrpc: '2.0', id: 3, method: `no/method-${n}` })).toHaveProperty('error.code', -32601);
  client.socket.close(3000 + n);
  await client.closed;
  const strange = await bearer({ sub: `user-${n}`, iss: `https://idp-${n}.example` });
  expect((await upgrade(url, { headers: strange })).status).toBe(401);
  expect((await upgrade(url, { headers: { origin: `https://page-${n}.example` } })).status).toBe(403);
}

test('1,000 clients that each connect, call and leave under names of their own add no series after the first twenty', async () => {
  const gateway = await startGateway({
    auth: {
      mode: 'jwt',
      resource: issuer.audience,
      issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
    },
    hosts: ['*'],
    policy: 'allow-authenticated',
    limits: { handshakes: { perSecond: 100_000 } },
    mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) },
  });
  await gateway.ready();
  const samples = async () => parseMetrics(await gateway.metrics());
  const value = async (name: string) => sampleValue(await samples(), `mcp_gateway_${name}`);
  const series = async () => {
    const own = (await samples()).filter(({ name }) => name.startsWith('mcp_gateway_'));
    return own.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`).sort();
  };
  const visits = async (from: number, to: number) => {
    for (let n = from; n < to; n += TOGETHER) {
      await Promise.all(Array.from({ length: TOGETHER }, (_, i) => visit(gateway.url, n + i)));
    }
    await expect.poll(() => value('connections')).toBe(0);
  };
  await visits(0, TOGETHER);
  const before = await series();
  await visits(TOGETHER, CLIENTS);
  expect(await value('connections_opened_total')).toBe(1000);
  expect(await series()).toEqual(before);
}, 120_000);
