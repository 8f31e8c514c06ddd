import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { standing } from '../../src/http/file-watch.ts';
import { makeAuthority, serverCertificate, tlsFolder } from '../support/certificates.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { openGateway, startGateway, type TestGateway } from '../support/gateway.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { connectTcp, targetOf } from '../support/tcp-client.ts';

const authority = makeAuthority();
const { cert: ca } = authority;
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const PONG = { jsonrpc: '2.0', id: 1, result: {} };

/** A gateway of anonymous callers that serves both ways over TLS. */
async function open(tls: object = {}, more: object = {}) {
  const first = serverCertificate(authority);
  const { certFile, keyFile, put } = tlsFolder(first, ca);
  const listen = { port: 0, tcp: { port: 0 }, tls: { certFile, keyFile, ...tls } };
  const gateway = await startGateway({ listen, ...more });
  return { gateway, put, first, url: gateway.url.replace('ws:', 'wss:') };
}

/** The fingerprint of the certificate a new connection is shown. */
async function shown(at: ConnectionOptions): Promise<string> {
  const socket = connectTls({ ...at, ca });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return socket.getPeerCertificate().fingerprint256.replaceAll(':', '').toLowerCase();
}

/** A connection that says nothing. */
async function silent(at: { readonly port: number; readonly host: string }) {
  const socket = connect(at);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  return { socket, closed };
}

const events = ({ log }: TestGateway) => log.map(({ event }) => event).filter((event) => event.startsWith('tls_re'));
const SOON = { timeout: 15_000 };

test('a WebSocket and a TCP connection over TLS are sessions, and nothing is served in the clear', async () => {
  const { gateway, url } = await open();
  const client = await openRaw(url, { tls: { ca } });
  expect(await client.ask(PING)).toEqual(PONG);
  const lines = await connectTcp(gateway.tcp, { tls: { ca } });
  expect(await lines.initialize()).toMatchObject({ id: 'init', result: { protocolVersion: '2025-11-25' } });
  await expect(connectRaw(gateway.url)).rejects.toThrow();
  const plain = await connectTcp(gateway.tcp);
  plain.send(PING);
  expect(await plain.rest()).not.toContainEqual(expect.stringContaining('result'));
  expect(await gateway.metrics()).toContain('connections_refused_total{reason="tls_handshake"} 2\n');
});

test('a Unix socket beside it stays plain', async () => {
  const { certFile, keyFile } = tlsFolder(serverCertificate(authority), ca);
  const socket = certFile.replace('cert.pem', 'mcp.sock');
  const gateway = await startGateway({ listen: { port: 0, tls: { certFile, keyFile }, tcp: { socket } } });
  expect(await (await connectTcp(gateway.tcp)).initialize()).toMatchObject({ id: 'init', result: {} });
});

test('a new certificate is for the next connection, and the open ones live on', async () => {
  const { gateway, url, put, first } = await open();
  const client = await openRaw(url, { tls: { ca } });
  const lines = await connectTcp(gateway.tcp, { tls: { ca } });
  await lines.initialize();
  expect([await shown(gateway.address), await shown(targetOf(gateway.tcp))]).toEqual([first.sha256, first.sha256]);
  const notAfter = Date.UTC(2100, 0, 1);
  const second = serverCertificate(authority, notAfter);
  put(second);
  await expect.poll(() => events(gateway), SOON).toEqual(['tls_reloaded']);
  expect([await shown(gateway.address), await shown(targetOf(gateway.tcp))]).toEqual([second.sha256, second.sha256]);
  expect([await client.ask(PING), await lines.ask(PING)]).toEqual([PONG, PONG]);
  const told = gateway.log.find(({ event }) => event === 'tls_reloaded');
  expect(told?.fields).toEqual({ notAfter: '2100-01-01T00:00:00.000Z' });
  const metrics = await gateway.metrics();
  expect(metrics).toContain(`tls_certificate_not_after_seconds ${notAfter / 1000}\n`);
  expect(metrics).toContain(
    `tls_certificate_not_before_seconds ${Date.parse(new X509Certificate(second.cert).validFrom) / 1000}\n`,
  );
});

test('a pair that does not fit keeps the old one in force until it does, and no key is told', async () => {
  const { gateway, put, first } = await open();
  const second = serverCertificate(authority);
  put({ cert: second.cert });
  await expect.poll(() => events(gateway), SOON).toEqual(['tls_reload_failed']);
  const told = gateway.log.find(({ event }) => event === 'tls_reload_failed');
  expect(String(told?.fields.err)).toBe(
    'Error: listen.tls.keyFile is not the key of the certificate in listen.tls.certFile',
  );
  expect(await shown(gateway.address)).toBe(first.sha256);
  put({ key: second.key });
  await expect.poll(() => events(gateway), SOON).toEqual(['tls_reload_failed', 'tls_reloaded']);
  expect(await shown(gateway.address)).toBe(second.sha256);
  expect(JSON.stringify(gateway.log)).not.toContain('PRIVATE KEY');
});

test('nothing is read anew once the gateway has stopped', async () => {
  const { certFile, keyFile, put } = tlsFolder(serverCertificate(authority), ca);
  const clock = fakeClock(Date.now());
  const gateway = await openGateway({ listen: { port: 0, tls: { certFile, keyFile } } }, clock);
  await gateway.close();
  put(serverCertificate(authority));
  for (const file of [certFile, keyFile, certFile]) {
    clock.advance(1000);
    await standing([file]);
  }
  expect(events(gateway)).toEqual([]);
});

test('an older protocol version than the least is refused, on both listeners', async () => {
  const { gateway, url } = await open({ minVersion: 'TLSv1.3' });
  const tls = { ca, maxVersion: 'TLSv1.2' } as const;
  await expect(connectRaw(url, { tls })).rejects.toThrow('protocol version');
  await expect(connectTcp(gateway.tcp, { tls })).rejects.toThrow('protocol version');
  expect(await (await openRaw(url, { tls: { ca } })).ask(PING)).toEqual(PONG);
});

test('the first line over TLS must be a request, as in the clear', async () => {
  const { gateway } = await open();
  const client = await connectTcp(gateway.tcp, { tls: { ca } });
  client.send(`POST / HTTP/1.1\r\n\r\n${JSON.stringify(PING)}\n`);
  expect(await client.rest()).toEqual([]);
  expect(await gateway.metrics()).toContain('connections_refused_total{reason="first_line"} 1\n');
});

describe('a handshake under way', () => {
  test('is the one that is cut where there are too many, if it is the oldest, and keeps nobody out', async () => {
    const { gateway, url } = await open({}, { limits: { handshakes: { pending: 2 } } });
    const silents = [await silent(gateway.address), await silent(gateway.address)];
    const before = performance.now();
    expect(await (await openRaw(url, { tls: { ca } })).ask(PING)).toEqual(PONG);
    await silents[0]?.closed;
    expect(performance.now() - before).toBeLessThan(5000);
    expect(silents[1]?.socket.destroyed).toBe(false);
    // Whoever has got through is none of those under way any more.
    silents.push(await silent(gateway.address));
    expect(silents[1]?.socket.destroyed).toBe(false);
    expect(await gateway.metrics()).toContain('connections_refused_total{reason="pending"} 1\n');
  });

  test('is cut when it takes too long', async () => {
    const { gateway } = await open({}, { limits: { firstMessage: '50ms' } });
    const target = gateway.tcp !== undefined && 'port' in gateway.tcp ? gateway.tcp : gateway.address;
    await (await silent(target)).closed;
    expect(gateway.log).toContainEqual({
      level: 'info',
      event: 'tls_refused',
      fields: { reason: 'tls_handshake', code: 'ERR_TLS_HANDSHAKE_TIMEOUT' },
    });
  });

  test('does not hold up the end of the gateway', async () => {
    const { certFile, keyFile } = tlsFolder(serverCertificate(authority), ca);
    const gateway = await openGateway({ listen: { port: 0, tcp: { port: 0 }, tls: { certFile, keyFile } } });
    const target = gateway.tcp !== undefined && 'port' in gateway.tcp ? gateway.tcp : gateway.address;
    const [main, lines] = [await silent(gateway.address), await silent(target)];
    const before = performance.now();
    await gateway.close();
    await Promise.all([main.closed, lines.closed]);
    expect(performance.now() - before).toBeLessThan(5000);
  });
});

describe('files that cannot be used stop the start with a sentence', () => {
  const good = serverCertificate(authority);
  const other = serverCertificate(authority);
  test.each([
    ['no certificate', { ...good, cert: 'hello' }, 'listen.tls.certFile holds no certificate in PEM'],
    [
      'half a certificate',
      { ...good, cert: good.cert.replace(/\n.{64}\n/, '\n') },
      'listen.tls.certFile holds a certificate that cannot be read',
    ],
    ['no key', { ...good, key: good.cert }, /^listen.tls.keyFile holds no private key in PEM that opens .*\(\w+\)$/],
    [
      'the key of another certificate',
      { ...good, key: other.key },
      'listen.tls.keyFile is not the key of the certificate in listen.tls.certFile',
    ],
    ['no authority', { ...good, ca: '' }, 'listen.tls.clientCaFile holds no certificate in PEM'],
  ])('%s', async (_what, { ca: authorities = ca, ...pair }: typeof good & { ca?: string }, sentence) => {
    const { certFile, keyFile, clientCaFile } = tlsFolder(pair, authorities);
    const tls = { certFile, keyFile, clientCaFile, clientAuth: 'optional' };
    await expect(openGateway({ listen: { port: 0, tls } })).rejects.toThrow(sentence);
  });

  test('a file that is not there', async () => {
    const { certFile } = tlsFolder(good, ca);
    const tls = { certFile, keyFile: `${certFile}.gone` };
    await expect(openGateway({ listen: { port: 0, tls } })).rejects.toThrow(
      'listen.tls.keyFile cannot be read (ENOENT)',
    );
  });

  test('but not one that has expired, which only the log tells', async () => {
    const { certFile, keyFile } = tlsFolder(serverCertificate(authority, Date.UTC(2020, 0, 1)), ca);
    const gateway = await startGateway({ listen: { port: 0, tls: { certFile, keyFile } } });
    expect(gateway.log).toContainEqual({
      level: 'warn',
      event: 'tls_certificate_expired',
      fields: { notAfter: '2020-01-01T00:00:00.000Z' },
    });
  });
});
