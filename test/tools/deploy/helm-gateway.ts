import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Deploy } from './check.ts';
import { renderedConfig } from './helm-config-checks.ts';

export interface Running {
  /** Values of the chart under which it renders what this gateway runs on. */
  readonly values: object;
  readonly opsPort: number;
}

const START_MS = 15_000;
let running: Promise<Running> | undefined;

/** The built gateway on the rendered configuration of the default values, on 127.0.0.1 and free ports, until the checks end. */
export function startGateway(deploy: Deploy): Promise<Running> {
  running ??= start(deploy);
  return running;
}

async function start(deploy: Deploy): Promise<Running> {
  const [port, opsPort] = [await freePort(), await freePort()];
  // A loopback listener takes its own names as well; the one of a pod does not.
  const values = { config: { listen: { port }, ops: { port: opsPort }, hosts: ['gateway.example.com'] } };
  const file = join(mkdtempSync(join(deploy.scratch, 'gateway-')), 'gateway.yaml');
  writeFileSync(file, await renderedConfig(deploy, [values]));
  const env = { ...process.env, MCP_GW__LISTEN__HOST: '127.0.0.1', MCP_GW__OPS__HOST: '127.0.0.1' };
  const child = spawn(process.execPath, ['dist/main.js', 'serve', '--config', file], {
    cwd: deploy.root,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  deploy.onEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no gateway within ${START_MS / 1000} s\n${log}`)), START_MS);
    child.stderr.on('data', () => {
      if (log.includes('"event":"listening"')) resolve(clearTimeout(late));
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}\n${log}`)));
  });
  return { values, opsPort };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
