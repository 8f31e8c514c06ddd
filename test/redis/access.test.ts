import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeAuthority, serverCertificate, tlsFolder } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { connectRaw } from '../support/raw-client.ts';
import { redisBus, replica, updated } from '../support/redis-buses.ts';
import { nameOf } from '../support/redis-parts.ts';
import { redisServer } from '../support/redis-server.ts';
import { issuer, ticketOf } from '../support/ticketed-gateway.ts';
import { ticketedReplicas } from '../support/ticketed-replicas.ts';
import { upgrade } from '../support/upgrade-request.ts';

const POLL = { timeout: 15_000 };

async function talks(urls: readonly [string, string], choice = {}) {
  const [here, there] = [await replica(urls[0], choice), await replica(urls[1], choice)];
  here.bus.publish(updated('x://1'));
  await expect.poll(there.uris, POLL).toEqual(['x://1']);
}

/** What the log says of a bus that is refused; it never gets up. */
async function refusal(url: string, choice = {}) {
  const { bus, log } = redisBus(url, choice);
  await bus.opened;
  expect(bus.isUp).toBe(false);
  return JSON.stringify(log.lines);
}

describe('a password', () => {
  test('is sent, whatever it holds', async () => {
    const server = await redisServer({ args: ['--requirepass', 'p@ss:w/rd?'], password: 'p@ss:w/rd?' });
    const url = `redis://:p%40ss%3Aw%2Frd%3F@127.0.0.1:${server.port}`;
    await talks([url, url.replace('://:', '://default:')]);
  });

  test('that is wrong or missing is said, and no password is in the log', async () => {
    const server = await redisServer({ args: ['--requirepass', 'right-one'], password: 'right-one' });
    const wrong = await refusal(`redis://:hunter2@127.0.0.1:${server.port}`);
    expect(wrong).toContain('WRONGPASS');
    expect(wrong).not.toContain('hunter2');
    expect(await refusal(`redis://127.0.0.1:${server.port}`)).toContain('NOAUTH');
  });

  test('of a user with no more rights than the bus needs', async () => {
    const server = await redisServer();
    const rights = [
      '~{test}:*',
      '+type',
      '+xadd',
      '+xread',
      '+xinfo|stream',
      '+xlen',
      '+memory|usage',
      '+eval',
      '+evalsha',
    ];
    await server.command('ACL', 'SETUSER', 'gateway', 'on', '>secret', ...rights);
    const url = `redis://gateway:secret@127.0.0.1:${server.port}`;
    await talks([url, url]);
    await server.command('ACL', 'SETUSER', 'gateway', '-xinfo|stream');
    expect(await refusal(url)).toMatch(/NOPERM|can't run this command/);
  });
});

test('a user with the rights that the operations page names can do all that a gateway asks for', async () => {
  const server = await redisServer();
  const page = readFileSync('docs/operations.md', 'utf8');
  const [, rights = ''] = /`(~\{mcp-ws\}:\* \+type [^`]+)`/.exec(page) ?? [];
  await server.command('ACL', 'SETUSER', 'gateway', 'reset', 'on', '>secret', ...rights.split(' '));
  const redis = `redis://gateway:secret@127.0.0.1:${server.port}`;
  await talks([redis, redis], { prefix: 'mcp-ws' });
  const limits = { connectionsPerPrincipal: 1 };
  const [one, other] = await ticketedReplicas(redis, { bus: { redis }, limits });
  const [spent, refused] = [await ticketOf(one), await ticketOf(one)];
  const client = await connectRaw(`${other.url}?ticket=${spent}`);
  expect((await upgrade(one.url, { path: `/mcp?ticket=${refused}` })).status).toBe(429);
  client.socket.close();
  const key = `{mcp-ws}:connections:${nameOf(JSON.stringify([issuer.issuer, 'alice']))}`;
  await expect.poll(() => server.command('EXISTS', key), POLL).toBe(0);
  expect(await server.command('ACL', 'LOG')).toEqual([]);
});

describe('TLS', () => {
  async function tlsServer() {
    const authority = makeAuthority();
    const files = tlsFolder(serverCertificate(authority), authority.cert);
    const port = await freePort();
    const { certFile, keyFile, clientCaFile } = files;
    const paths = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', clientCaFile];
    await redisServer({ args: ['--tls-port', String(port), '--tls-auth-clients', 'no', ...paths] });
    return { port, ca: readFileSync(clientCaFile, 'utf8') };
  }

  test('by name and by address, with a certificate of a known authority', async () => {
    const { port, ca } = await tlsServer();
    await talks([`rediss://localhost:${port}`, `rediss://127.0.0.1:${port}`], { ca });
  });

  test('a certificate of an unknown authority is refused, and so is plain text', async () => {
    const { port } = await tlsServer();
    const { cert } = makeAuthority();
    expect(await refusal(`rediss://127.0.0.1:${port}`, { ca: cert })).toMatch(/certificate/);
    expect(await refusal(`redis://127.0.0.1:${port}`)).toContain('bus_down');
  });
});
