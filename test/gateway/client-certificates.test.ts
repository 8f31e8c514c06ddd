import { TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { type LeafOptions, makeAuthority } from '../support/certificates.ts';
import { authority, bearer, certifiedGateway, PING, PONG, pinned, trusting } from '../support/certified-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { connectTcp } from '../support/tcp-client.ts';

describe('a certificate stands for a principal', () => {
  const named: [string, LeafOptions][] = [
    ['a DNS name', { subject: [['CN', 'other']], dns: ['other.example.com', 'robot.example.com'] }],
    ['a URI', { uri: ['spiffe://example.com/robot'] }],
    ['a URI with a comma', { uri: ['urn:example:robot,1'] }],
    ['a mail address', { email: ['robot@example.com'] }],
    [
      'its subject',
      {
        subject: [
          ['C', 'US'],
          ['O', 'Acme, Inc.\nCN=x'],
          ['OU', 'R&D + more'],
          ['CN', 'robot'],
        ],
      },
    ],
  ];

  test.each(named)('by %s, over both ways in', async (_by, leaf) => {
    await reachesEcho(authority.issue(leaf));
  });

  test('by its fingerprint', async () => {
    await reachesEcho(pinned);
  });

  async function reachesEcho(client: object) {
    const policy = [
      { roles: ['bot'], allow: { tools: ['up/echo'] }, when: 'principal.issuer == "x509" && principal.id == "robot"' },
    ];
    const mcpServers = { up: stdioUpstream('plain.mjs', ['/dev/null']) };
    const { gateway, url } = await certifiedGateway({ config: { policy, mcpServers } });
    await gateway.ready();
    const call = toolCall(1, 'up__echo', { text: 'hello' });
    expect(await (await openRaw(url, trusting(client))).ask(call)).toEqual(textAnswer(1, 'hello'));
    const lines = await connectTcp(gateway.tcp, trusting(client));
    await lines.initialize();
    expect(await lines.ask(call)).toEqual(textAnswer(1, 'hello'));
    expect(await lines.ask(toolCall(2, 'up__pid'))).toMatchObject({ id: 2, error: { code: -32602 } });
    expect(await gateway.metrics()).toContain('auth_total{issuer="x509",outcome="accepted",reason=""} 2\n');
  }

  test('whose connections count together, whatever certificate they came with', async () => {
    const { gateway, socket } = await certifiedGateway({ config: { limits: { connectionsPerPrincipal: 1 } } });
    await socket(authority.issue({ dns: ['robot.example.com'] }));
    await expect(socket(pinned)).rejects.toThrow('HTTP 429');
    const lines = await connectTcp(gateway.tcp, trusting(pinned));
    expect(await lines.rest()).toEqual([]);
    await socket(authority.issue({ dns: ['late.example.com'] }));
  });

  test('and of several entries that name it the first decides', async () => {
    const { socket } = await certifiedGateway({ config: { limits: { connectionsPerPrincipal: 1 } } });
    const both = () => authority.issue({ dns: ['late.example.com', 'robot.example.com'] });
    await socket(authority.issue({ dns: ['late.example.com'] }));
    await socket(both());
    await expect(socket(both())).rejects.toThrow('HTTP 429');
  });

  test('until it ends: the session with it', async () => {
    const { gateway, url } = await certifiedGateway({ auth: { clockTolerance: '0s' } });
    const client = authority.issue({ dns: ['robot.example.com'], notAfter: Date.now() + 2000 });
    const socket = await openRaw(url, trusting(client));
    const lines = await connectTcp(gateway.tcp, trusting(client));
    await lines.initialize();
    const rest = lines.rest();
    expect(await socket.closed).toEqual({ code: 4401, reason: 'unauthenticated' });
    expect(await rest).toEqual([]);
  });
});

describe('a token beside a certificate', () => {
  const robot = authority.issue({ dns: ['robot.example.com'] });

  test('decides alone who is calling', async () => {
    const { socket } = await certifiedGateway({ config: { limits: { connectionsPerPrincipal: 1 } } });
    await socket(robot, await bearer());
    await expect(socket(robot, await bearer())).rejects.toThrow('HTTP 429');
    await socket(robot);
  });

  test('that is refused is not made good by the certificate', async () => {
    const { socket } = await certifiedGateway();
    await expect(socket(robot, await bearer({ exp: 1 }))).rejects.toThrow('HTTP 401');
    await expect(socket(robot, await bearer({ scope: 'other' }))).rejects.toThrow('HTTP 403');
  });
});

test('where every client must have a certificate, a token alone does not get through the handshake', async () => {
  const { gateway, socket } = await certifiedGateway({ tls: { clientAuth: 'required' } });
  await expect(socket({}, await bearer())).rejects.toThrow(/certificate required|ECONNRESET|socket hang up/);
  const stranger = authority.issue({ dns: ['who.example.com'] });
  expect(await (await socket(stranger, await bearer())).ask(PING)).toMatchObject({ id: 1 });
  expect(await gateway.metrics()).toContain('connections_refused_total{reason="tls_handshake"} 1\n');
});

test('a session of TLS is not resumed, so that a certificate is judged anew each time', async () => {
  const { gateway } = await certifiedGateway();
  const robot = authority.issue({ dns: ['robot.example.com'] });
  const first = await connectTcp(gateway.tcp, { tls: { ...trusting(robot).tls, maxVersion: 'TLSv1.2' } });
  await first.initialize();
  const session = first.socket instanceof TLSSocket ? first.socket.getSession() : undefined;
  expect(session).toBeInstanceOf(Buffer);
  const again = { ...trusting().tls, maxVersion: 'TLSv1.2' as const, ...(session === undefined ? {} : { session }) };
  await expect(connectTcp(gateway.tcp, { tls: again })).rejects.toThrow();
});

test('another authority in the file counts from the next connection on, and the old one no more', async () => {
  const { gateway, put, socket } = await certifiedGateway();
  const next = makeAuthority('Next authority');
  const [before, after] = [authority, next].map((each) => each.issue({ dns: ['robot.example.com'] }));
  const open1 = await socket(before);
  await expect(socket(after)).rejects.toThrow('HTTP 401');
  put({ ca: next.cert });
  await expect.poll(() => gateway.log.map(({ event }) => event), { timeout: 15_000 }).toContain('tls_reloaded');
  await expect(socket(before)).rejects.toThrow('HTTP 401');
  await socket(after);
  const lines = await connectTcp(gateway.tcp, trusting(before));
  expect(await lines.rest()).toEqual([]);
  await open1.initialize();
  expect(await open1.ask(PING)).toEqual(PONG);
});

test('the first line of a known caller must be a request all the same', async () => {
  const { gateway } = await certifiedGateway();
  const lines = await connectTcp(gateway.tcp, trusting(pinned));
  lines.send(`POST / HTTP/1.1\r\n\r\n${JSON.stringify(PING)}\n`);
  expect(await lines.rest()).toEqual([]);
  expect(await gateway.metrics()).toContain('connections_refused_total{reason="first_line"} 1\n');
});

test('in anonymous mode a certificate says nothing: who shows one is anonymous', async () => {
  const { gateway, socket } = await certifiedGateway({
    auth: { mode: 'anonymous', resource: undefined, requiredScopes: [], issuers: [], certificates: [] },
    config: { policy: [], limits: { connectionsPerPrincipal: 1 } },
  });
  const [first, second] = [await socket(pinned), await socket(pinned)];
  expect([await first.ask(PING), await second.ask(PING)]).toEqual([PONG, PONG]);
  const lines = await connectTcp(gateway.tcp, trusting(authority.issue({ dns: ['who.example.com'] })));
  expect(await lines.ask(PING)).toEqual(PONG);
  expect(await gateway.metrics()).not.toContain('auth_total{');
});
