import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeAuthority, serverCertificate, tlsFolder } from '../support/certificates.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';
import { connectTcp } from '../support/tcp-client.ts';
import { makeIssuer } from '../support/tokens.ts';
import { upgrade } from '../support/upgrade-request.ts';

const issuer = await makeIssuer();
const JWT = {
  auth: {
    mode: 'jwt',
    resource: issuer.audience,
    issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
  },
  policy: [],
  hosts: ['*'],
};
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const PONG = { jsonrpc: '2.0', id: 1, result: {} };

/** Status, Retry-After and body of upgrades that come at once. */
async function together(url: string, count: number, headers = {}) {
  const answers = await Promise.all(Array.from({ length: count }, () => upgrade(url, { headers })));
  return answers.map(({ status, headers, body }) => [status, headers['retry-after'], body]);
}

describe('upgrades begun', () => {
  test('over the number a second in all are refused 503 before anything of them is read, until there is room again', async () => {
    const clock = fakeClock();
    const gateway = await startGateway({ ...JWT, limits: { handshakes: { perSecond: 2 } } }, clock);
    const answers = await together(gateway.url, 4, { origin: 'null', host: 'evil.example' });
    expect(answers.map(([status]) => status)).toEqual([403, 403, 503, 503]);
    expect(answers[3]).toEqual([503, '1', '{"error":"handshakes"}']);
    expect(await gateway.metrics()).toContain('connections_refused_total{reason="handshakes"} 2\n');
    clock.advance(499);
    expect((await upgrade(gateway.url)).status).toBe(503);
    clock.advance(1);
    expect((await upgrade(gateway.url)).status).toBe(401);
  });

  test('over the rate of one address are refused 429, before the token is looked at', async () => {
    const limits = { handshakes: { perAddress: { rate: 1, burst: 3 } } };
    const gateway = await startGateway({ ...JWT, limits });
    const authorization = `Bearer ${await issuer.sign()}`;
    const answers = await together(gateway.url, 5, { authorization });
    expect(answers.map(([status]) => status)).toEqual([101, 101, 101, 429, 429]);
    expect(answers[4]).toEqual([429, '1', '{"error":"handshakes_per_address"}']);
    const metrics = await gateway.metrics();
    expect(metrics).toContain('auth_total{issuer="https://idp.example.com/",outcome="accepted",reason=""} 3\n');
    expect(metrics).toContain('connections_refused_total{reason="handshakes_per_address"} 2\n');
  });

  test('count over TLS when the handshake begins, and are cut when they are too many', async () => {
    const { gateway } = await openTls({ rate: 1, burst: 4 });
    const silent = Array.from({ length: 6 }, () => connect(gateway.address));
    for (const socket of silent) onTestFinished(() => void socket.destroy());
    const refused = () => gateway.log.filter(({ event }) => event === 'tls_refused').map(({ fields }) => fields);
    await expect.poll(refused).toEqual([{ reason: 'handshakes_per_address' }, { reason: 'handshakes_per_address' }]);
    expect(await gateway.metrics()).toContain('connections_refused_total{reason="handshakes_per_address"} 2\n');
  });

  test('count once over TLS, handshake and upgrade together, on either listener', async () => {
    const { gateway, url, tls } = await openTls({ rate: 1, burst: 5 });
    const open = await Promise.all(Array.from({ length: 4 }, () => openRaw(url, { tls })));
    for (const client of open) expect(await client.ask(PING)).toEqual(PONG);
    expect(await (await connectTcp(gateway.tcp, { tls })).initialize()).toMatchObject({ id: 'init', result: {} });
  });

  test('count with connections to the TCP listener', async () => {
    const limits = { handshakes: { perAddress: { rate: 1, burst: 2 } } };
    const gateway = await startGateway({ listen: { port: 0, tcp: { port: 0 } }, limits });
    const first = await connectTcp(gateway.tcp);
    expect((await upgrade(gateway.url)).status).toBe(101);
    const over = await connectTcp(gateway.tcp);
    expect(await over.rest()).toEqual([]);
    expect(await first.initialize()).toMatchObject({ id: 'init', result: {} });
    expect(await gateway.metrics()).toContain('connections_refused_total{reason="handshakes_per_address"} 1\n');
  });
});

test('sockets over the number of one address are refused 429 on either listener, until one goes', async () => {
  const gateway = await startGateway({ listen: { port: 0, tcp: { port: 0 } }, limits: { connectionsPerAddress: 2 } });
  const first = await connectTcp(gateway.tcp);
  await first.initialize();
  await openRaw(gateway.url);
  expect(await together(gateway.url, 1)).toEqual([[429, '5', '{"error":"connections_per_address"}']]);
  expect(await (await connectTcp(gateway.tcp)).rest()).toEqual([]);
  expect(await gateway.metrics()).toContain('connections_refused_total{reason="connections_per_address"} 2\n');
  first.socket.destroy();
  await expect.poll(async () => (await upgrade(gateway.url)).status).toBe(101);
});

async function openTls(perAddress: { rate: number; burst: number }) {
  const authority = makeAuthority();
  const { certFile, keyFile } = tlsFolder(serverCertificate(authority), authority.cert);
  const listen = { port: 0, tcp: { port: 0 }, tls: { certFile, keyFile } };
  const gateway = await startGateway({ listen, limits: { handshakes: { perAddress } } });
  return { gateway, url: gateway.url.replace('ws:', 'wss:'), tls: { ca: authority.cert } };
}
