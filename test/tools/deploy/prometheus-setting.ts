import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../../support/free-port.ts';
import { serveHttpPeer } from '../trial/peer-http.ts';
import { until } from '../trial/until.ts';
import type { Deploy } from './check.ts';
import { missing } from './command.ts';
import { type Issuer, makeIssuer } from './issuer.ts';

const START_MS = 20_000;
const STOP_MS = 5_000;
const ADMIN_TOKEN = 'the-token-of-the-admin-listener-of-both';

/** One running gateway, as the load and Prometheus see it. */
export interface Replica {
  readonly url: string;
  readonly ops: string;
  readonly admin: string;
  readonly pid: number;
}

export interface Setting {
  readonly replicas: readonly Replica[];
  readonly issuer: Issuer;
  readonly adminToken: string;
}

/** Two replicas on one bus, the second over TLS, before upstreams of each kind; one upstream is away. All of it ends with the checks. */
export async function startSetting(deploy: Deploy): Promise<Setting> {
  const directory = join(deploy.scratch, 'replicas');
  mkdirSync(directory, { recursive: true });
  const issuer = await makeIssuer();
  const common = {
    auth: authOf(issuer, await serveKeys(deploy, issuer)),
    bus: { redis: await startRedis(deploy) },
    mcpServers: await upstreams(deploy),
  };
  writeFileSync(join(directory, 'admin-token'), ADMIN_TOKEN);
  const replicas = [
    await startReplica(deploy, join(directory, 'one.yaml'), common, undefined),
    await startReplica(deploy, join(directory, 'two.yaml'), common, await certificate(deploy, directory)),
  ];
  return { replicas, issuer, adminToken: ADMIN_TOKEN };
}

async function startRedis(deploy: Deploy): Promise<string> {
  const port = await freePort();
  const options = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'];
  await run(deploy, 'redis-server', [...options, '--dir', deploy.scratch], (text) => text.includes('Ready to accept'));
  return `redis://127.0.0.1:${port}`;
}

/** The key set, so that keys are fetched as they are from an issuer. */
async function serveKeys(deploy: Deploy, { keys }: Issuer): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(keys));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  deploy.onEnd(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
}

function authOf(issuer: Issuer, jwksUri: string): object {
  const { issuers, ...auth } = issuer.auth('') as { issuers: { issuer: string }[] };
  return { ...auth, issuers: issuers.map((each) => ({ ...each, keys: { jwksUri } })) };
}

async function upstreams(deploy: Deploy): Promise<object> {
  const peer = await serveHttpPeer('remote');
  deploy.onEnd(() => peer.close());
  const plain = join(deploy.root, 'test/support/upstreams/plain.mjs');
  return {
    demo: { module: join(deploy.root, 'dist/demo/server.js'), isolation: 'shared' },
    plain: { command: process.execPath, args: [plain], timeout: '1s' },
    remote: { url: peer.url },
    away: { url: `http://127.0.0.1:${await freePort()}/mcp` },
  };
}

async function certificate(deploy: Deploy, directory: string): Promise<object> {
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const key = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
  await deploy.sh('openssl', [...key, '-out', certFile, '-days', '30', '-subj', '/CN=gateway']);
  return { certFile, keyFile };
}

async function startReplica(deploy: Deploy, file: string, common: object, tls?: object): Promise<Replica> {
  const [port, opsPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const config = {
    listen: { port, ...(tls === undefined ? {} : { tls }) },
    ops: { port: opsPort },
    admin: { port: adminPort, tokenFile: 'admin-token' },
    audit: { sink: 'off' },
    timing: { drain: { inFlight: '0s', waves: '0s' } },
    hosts: ['127.0.0.1'],
    seal: { keys: ['a secret of both replicas, 32 bytes at least'] },
    policy: [
      { allow: { tools: ['**'] } },
      // Calls without the argument cannot be judged: the condition fails, and that is counted.
      { deny: { tools: ['plain/pid'] }, when: 'arguments.none == "x"' },
    ],
    limits: { outbox: '1MiB', slowReader: '4s', requestsPerSecond: { rate: 50, burst: 100 } },
    ...common,
  };
  writeFileSync(file, stringify(config));
  const child = await run(deploy, process.execPath, ['dist/main.js', 'serve', '--config', file], (text) =>
    text.includes('"event":"listening"'),
  );
  const scheme = tls === undefined ? 'ws' : 'wss';
  return {
    url: `${scheme}://127.0.0.1:${port}/mcp`,
    ops: `127.0.0.1:${opsPort}`,
    admin: `http://127.0.0.1:${adminPort}/changes`,
    pid: child.pid ?? 0,
  };
}

/** A program that runs until the checks end; resolves when its output says that it is ready. */
async function run(
  deploy: Deploy,
  command: string,
  args: readonly string[],
  isReady: (output: string) => boolean,
): Promise<ChildProcess> {
  const child = spawn(command, [...args], { cwd: deploy.root, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  const hear = (text: string) => {
    output = (output + text).slice(-8000);
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  await Promise.race([
    once(child, 'spawn'),
    once(child, 'error').then(([error]) => Promise.reject(missing(command, error))),
  ]);
  deploy.onEnd(async () => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(late);
  });
  const isOver = () => isReady(output) || child.exitCode !== null;
  if (!(await until(isOver, START_MS, 50)) || child.exitCode !== null)
    throw new Error(`${command} is not ready:\n${output}`);
  return child;
}
