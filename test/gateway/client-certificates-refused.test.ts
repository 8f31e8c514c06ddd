import { describe, expect, test } from 'vitest';
import { makeAuthority } from '../support/certificates.ts';
import {
  authority,
  bearer,
  CERTIFICATES,
  certifiedGateway,
  PING,
  PONG,
  pinned,
  trusting,
} from '../support/certified-gateway.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { openRaw } from '../support/raw-client.ts';
import { connectTcp } from '../support/tcp-client.ts';

const DAY = 86_400_000;

describe('no principal is', () => {
  const other = makeAuthority('Other authority');
  const names = { subject: [['CN', 'robot']], dns: ['robot.example.com'] } as const;
  const quoted = ['x, DNS:robot.example.com', 'x", DNS:robot.example.com, DNS:"'];

  test.each([
    ['a certificate that no entry names', () => authority.issue({ dns: ['robot.example.org'] }), 'unknown'],
    ['one that only looks like a name of the list', () => authority.issue({ dns: quoted }), 'unknown'],
    ['one whose subject is only part of an entry', () => authority.issue({ subject: [['CN', 'robot']] }), 'unknown'],
    ['one without a name', () => authority.issue(), 'unknown'],
    [
      'one that has a fingerprint or subject for a URI',
      () => authority.issue({ uri: [pinned.sha256, CERTIFICATES[4]?.san ?? ''] }),
      'unknown',
    ],
    ['an expired one', () => authority.issue({ ...names, notAfter: Date.now() - 5000 }), 'untrusted'],
    ['the same names by an authority that is not in the file', () => other.issue(names), 'untrusted'],
    ['one made for servers', () => authority.issue({ ...names, usage: 'server' }), 'untrusted'],
  ])('%s', async (_what, make, reason) => {
    const { gateway, socket } = await certifiedGateway();
    const client = make();
    await expect(socket(client)).rejects.toThrow('HTTP 401');
    expect(await gateway.metrics()).toContain(
      `auth_total{issuer="x509",outcome="refused",reason="certificate_${reason}"} 1\n`,
    );
    // A client of TLS 1.3 has done its part before it can hear that it is refused.
    const lines = await connectTcp(gateway.tcp, trusting(client));
    lines.send(PING);
    expect(await lines.rest()).toEqual([]);
    expect(await gateway.metrics()).toContain('mcp_gateway_connections_opened_total 0\n');
    // What the certificate does not give, a token may.
    expect(await (await socket(client, await bearer())).ask(PING)).toMatchObject({ id: 1 });
  });

  test('the same names by another authority of the same name: a forgery, cut off whatever it brings', async () => {
    const { gateway, url, socket } = await certifiedGateway();
    const bystander = await openRaw(url, trusting(pinned));
    const forged = makeAuthority().issue(names);
    await expect(socket(forged)).rejects.toThrow();
    await expect(socket(forged, await bearer())).rejects.toThrow();
    const lines = await connectTcp(gateway.tcp, trusting(forged));
    lines.send(PING);
    expect(await lines.rest()).toEqual([]);
    expect(await gateway.metrics()).toContain('mcp_gateway_connections_opened_total 1\n');
    expect(await bystander.ask(PING)).toEqual(PONG);
  });

  test('one that has ended since the handshake, by the clock of the gateway', async () => {
    const { gateway, socket } = await certifiedGateway({ clock: fakeClock(Date.now() + 2 * DAY) });
    const client = authority.issue(names);
    await expect(socket(client)).rejects.toThrow('HTTP 401');
    expect(await (await connectTcp(gateway.tcp, trusting(client))).rest()).toEqual([]);
    const metrics = await gateway.metrics();
    expect(metrics).toContain('auth_total{issuer="x509",outcome="refused",reason="certificate_expired"} 2\n');
    expect(metrics).toContain('connections_refused_total{reason="certificate_expired"} 1\n');
  });

  test('a caller without a certificate, who is told where to get a token; over TCP nothing is read', async () => {
    const { gateway, socket } = await certifiedGateway();
    await expect(socket()).rejects.toThrow('HTTP 401');
    const lines = await connectTcp(gateway.tcp, trusting());
    lines.send(PING);
    expect(await lines.rest()).toEqual([]);
    const metrics = await gateway.metrics();
    expect(metrics).toContain('connections_refused_total{reason="no_token"} 1\n');
    expect(metrics).toContain('connections_refused_total{reason="tls_handshake"} 1\n');
    expect(metrics).not.toContain('auth_total{');
  });

  test('a certificate that is unknown is told in the log by the names an entry could give', async () => {
    const { gateway, socket } = await certifiedGateway();
    const stranger = authority.issue({
      subject: [
        ['O', 'Acme'],
        ['CN', 'who'],
      ],
      dns: ['who.example.com'],
    });
    await expect(socket(stranger)).rejects.toThrow('HTTP 401');
    expect(gateway.log.filter(({ event }) => event === 'certificate_refused').map(({ fields }) => fields)).toEqual([
      {
        request: expect.stringMatching(/^[0-9a-f-]{36}$/),
        reason: 'certificate_unknown',
        subject: 'CN=who,O=Acme',
        fingerprint: stranger.sha256,
        alternatives: ['who.example.com'],
      },
    ]);
  });
});
