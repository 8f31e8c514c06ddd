import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { runCli, type Serving, startServing } from './cli.ts';
import { freePort } from './free-port.ts';

const EVERY = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
};
const CONFIG = 'config/examples/three-servers.yaml';
const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
const FILESYSTEM = 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js';

export interface ThreeServers {
  readonly serving: Serving;
  /** A token by the command that the example names. Called in a test. */
  token(id: string, role: string): Promise<string>;
  /** A client of each server without the gateway between, closed by `close`. */
  readonly direct: Readonly<Record<'everything' | 'files' | 'remote', Client>>;
  close(): Promise<void>;
}

/** The example as its comments say to start it, on free ports; ready. */
export async function startThreeServers(): Promise<ThreeServers> {
  const port = await freePort();
  const http = await startEverythingOverHttp(port);
  const remoteUrl = `http://127.0.0.1:${port}/mcp`;
  const secret = { DEV_SECRET: randomBytes(32).toString('hex') };
  const env = { ...secret, EVERYTHING_URL: remoteUrl, MCP_GW__LISTEN__PORT: '0', MCP_GW__OPS__PORT: '0' };
  const serving = await startServing(CONFIG, { env });
  const direct = {
    everything: await connected(stdio(EVERYTHING, 'stdio')),
    files: await connected(stdio(FILESYSTEM, 'docs')),
    remote: await connected(new StreamableHTTPClientTransport(new URL(remoteUrl))),
  };
  await untilReady(`${serving.opsUrl}/readyz`);
  return {
    serving,
    direct,
    token: async (id, role) => {
      const ran = await runCli(['token', '--config', CONFIG, '--id', id, '--role', role], { env: secret });
      return ran.stdout.trim();
    },
    close: async () => {
      await Promise.all(Object.values(direct).map((client) => client.close()));
      await serving.stop();
      http.kill('SIGKILL');
    },
  };
}

async function startEverythingOverHttp(port: number): Promise<ChildProcess> {
  const preload = ['--require', './config/examples/loopback-only.cjs'];
  const child = spawn(process.execPath, [...preload, EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines = createInterface({ input: child.stderr });
  for await (const line of lines) if (line.includes('listening on port')) break;
  child.stderr.resume();
  return child;
}

function stdio(script: string, argument: string): StdioClientTransport {
  return new StdioClientTransport({ command: process.execPath, args: [script, argument], stderr: 'ignore' });
}

/** Declares all it might be asked, as the link does from which the gateway lists: some servers offer tools to such clients only. */
export async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'three-servers', version: '1.0.0' }, { capabilities: EVERY });
  await client.connect(transport);
  return client;
}

async function untilReady(url: string): Promise<void> {
  const { status } = await fetch(url);
  if (status !== 200) return untilReady(url);
}
