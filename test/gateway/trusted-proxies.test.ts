import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeAuthority, serverCertificate, tlsFolder } from '../support/certificates.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';
import { makeIssuer } from '../support/tokens.ts';
import { upgrade } from '../support/upgrade-request.ts';

const issuer = await makeIssuer();
const authorization = `Bearer ${await issuer.sign()}`;
const through = (forwarded: string) => ({ authorization, 'x-forwarded-for': forwarded });
const HERE = '203.0.113.9';

/** In jwt mode, with a rule for callers at one address. */
async function open(more: { listen?: object; limits?: object }) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-proxies-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'audit.jsonl');
  const gateway = await startGateway({
    auth: {
      mode: 'jwt',
      resource: issuer.audience,
      issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
    },
    policy: [{ allow: { tools: ['up/echo'] }, when: `principal.address == "${HERE}"` }],
    hosts: ['*'],
    audit: { sink: { file } },
    mcpServers: { up: stdioUpstream('plain.mjs') },
    ...more,
    listen: { port: 0, trustedProxies: ['127.0.0.0/8'], ...more.listen },
  });
  await gateway.ready();
  const audited = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line): { event: string; address?: string } => JSON.parse(line))
      .flatMap(({ event, address }) => (event === 'auth' ? [address] : []));
  return { gateway, audited };
}

async function toolsSeen(url: string, forwarded: string): Promise<unknown> {
  const client = await openRaw(url, { headers: through(forwarded) });
  return client.ask({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
}

test('policy and audit see the address a trusted proxy tells, and none that stands left of it', async () => {
  const { gateway, audited } = await open({});
  const seen = { id: 1, result: { tools: [{ name: 'up__echo' }] } };
  expect(await toolsSeen(gateway.url, `198.51.100.1, ${HERE}, 127.0.0.9`)).toMatchObject(seen);
  expect(await toolsSeen(gateway.url, `${HERE}, 198.51.100.1`)).toMatchObject({ id: 1, error: { code: -32601 } });
  await expect.poll(audited).toEqual([HERE, '198.51.100.1']);
});

test('a peer that is no trusted proxy is believed nothing', async () => {
  const { gateway, audited } = await open({ listen: { trustedProxies: ['10.0.0.0/8'] } });
  expect(await toolsSeen(gateway.url, HERE)).toMatchObject({ id: 1, error: { code: -32601 } });
  await expect.poll(audited).toEqual(['127.0.0.1']);
});

test('limits per address are those of the address behind the proxy', async () => {
  const { gateway } = await open({ limits: { connectionsPerAddress: 1 } });
  const statuses: number[] = [];
  for (const from of ['198.51.100.1', '198.51.100.2', '2001:db8::1', '2001:db8::2', '198.51.100.1'])
    statuses.push((await upgrade(gateway.url, { headers: through(from) })).status);
  expect(statuses).toEqual([101, 101, 101, 429, 429]);
});

test('the rate of an address counts behind the proxy, over TLS too, where the proxy’s own is not limited', async () => {
  const authority = makeAuthority();
  const { certFile, keyFile } = tlsFolder(serverCertificate(authority), authority.cert);
  const limits = { handshakes: { perAddress: { rate: 1, burst: 1 } } };
  const { gateway } = await open({ limits, listen: { tls: { certFile, keyFile } } });
  const url = gateway.url.replace('ws:', 'wss:');
  const from = (address: string) => openRaw(url, { tls: { ca: authority.cert }, headers: through(address) });
  const outcomes = await Promise.allSettled(['198.51.100.1', '198.51.100.2', '198.51.100.1'].map(from));
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(await gateway.metrics()).toContain('connections_refused_total{reason="handshakes_per_address"} 1\n');
});
