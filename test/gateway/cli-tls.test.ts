import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { makeAuthority, serverCertificate, tlsFolder } from '../support/certificates.ts';
import { runCli, startServing } from '../support/cli.ts';
import { fileWith } from '../support/config-fixtures.ts';
import { connectRaw } from '../support/raw-client.ts';

const authority = makeAuthority();

function configFile(tls: object): string {
  const listeners = { listen: { port: 0, tls }, ops: { port: 0 } };
  const upstreams = { mcpServers: { demo: { module: './demo.mjs', enabled: false } } };
  return fileWith('gateway.yaml', stringify({ auth: { mode: 'anonymous' }, ...listeners, ...upstreams }));
}

async function problemsOf(tls: object): Promise<string[]> {
  const { stdout } = await runCli(['check', '--config', configFile(tls)]);
  return stdout.split('\n').filter((line) => line.startsWith('problem'));
}

test('check reads the files of TLS', async () => {
  const { certFile, keyFile } = tlsFolder(serverCertificate(authority), authority.cert);
  expect(await problemsOf({ certFile, keyFile })).toEqual([]);
  expect(await problemsOf({ certFile, keyFile: 'gone.pem' })).toEqual([
    'problem: listen.tls.keyFile cannot be read (ENOENT)',
  ]);
  const expired = tlsFolder(serverCertificate(authority, Date.UTC(2020, 0, 1)), authority.cert);
  expect(await problemsOf({ certFile: expired.certFile, keyFile: expired.keyFile })).toEqual([
    'problem: listen.tls.certFile has expired (2020-01-01T00:00:00.000Z)',
  ]);
});

test('serve tells an address that begins with wss, where it serves', async () => {
  const { certFile, keyFile } = tlsFolder(serverCertificate(authority), authority.cert);
  const serving = await startServing(configFile({ certFile, keyFile }));
  expect(serving.url).toMatch(/^wss:\/\/127\.0\.0\.1:\d+\/mcp$/);
  await connectRaw(serving.url, { tls: { ca: authority.cert } });
  expect(await serving.stop()).toBe(0);
});
