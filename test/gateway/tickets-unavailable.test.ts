import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { startGateway } from '../support/gateway.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { APP, askTicket, browserConfig, issuer } from '../support/ticketed-gateway.ts';
import { upgrade } from '../support/upgrade-request.ts';

const TICKET = 'A'.repeat(43);

test('a gateway that cannot reach its Redis gives and takes no ticket, and lets in whoever has a token', async () => {
  const redis = `redis://127.0.0.1:${await freePort()}`;
  const gateway = await startGateway(browserConfig({ bus: { redis }, seal: { keys: ['k'.repeat(32)] } }));
  const token = await issuer.sign();
  const asked = await askTicket(gateway, { token, origin: APP });
  expect([asked.status, asked.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await asked.json()).toEqual({ error: 'tickets' });
  const spent = await upgrade(gateway.url, { path: `/mcp?ticket=${TICKET}` });
  expect([spent.status, spent.headers['retry-after'], spent.body]).toEqual([503, '5', '{"error":"tickets"}']);
  const page = await connectRaw(`${gateway.url}?ticket=${TICKET}`, { headers: { origin: APP } });
  expect(await page.closed).toEqual({ code: 1013, reason: 'overloaded retry=5000' });
  const refused = await upgrade(gateway.url, { path: '/mcp?ticket=none' });
  expect([refused.status, refused.body]).toEqual([401, '{"error":"invalid_ticket"}']);
  const client = await openRaw(gateway.url, { headers: { authorization: `Bearer ${token}` } });
  expect(await client.ask({ jsonrpc: '2.0', id: 9, method: 'ping' })).toEqual({ jsonrpc: '2.0', id: 9, result: {} });
  const causes = gateway.log.filter(({ event }) => event === 'ticket_refused').map(({ fields }) => fields.err);
  expect(causes).toEqual([new Error('Redis cannot be reached')]);
});
