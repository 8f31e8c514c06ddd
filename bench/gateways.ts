import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SignJWT } from 'jose';
import { stringify } from 'yaml';
import { type Host, startHost } from './host.ts';
import { Load } from './load.ts';

export interface GatewayShape {
  readonly tools: number;
  /** Glob rules that do not concern the caller, before the one that allows it. */
  readonly rules: number;
}

export const CHILD = resolve('bench/hosts/echo-child.mjs');
const SECRET = 'a secret of the benchmark, 32 bytes at least';
const ISSUER = 'bench';
const RESOURCE = 'https://bench.example/mcp';

/** A gateway with JWT, policy, audit and metrics on, before one stdio child. */
export async function startGateway(shape: GatewayShape): Promise<Host> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const file = join(directory, 'gateway.yaml');
  await writeFile(file, stringify(configOf(shape)));
  const host = await startHost('gateway', [file]);
  await rm(directory, { recursive: true });
  return host;
}

export async function connect(host: Host): Promise<Load> {
  return Load.connect(host.url, await token());
}

function token(): Promise<string> {
  return new SignJWT({ roles: ['bench'] })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setAudience(RESOURCE)
    .setSubject('load')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET));
}

function configOf({ tools, rules }: GatewayShape): unknown {
  const others = Array.from({ length: rules - 1 }, (_, at) => ({
    roles: ['bench'],
    allow: { tools: [`other${at}/*_${at}`] },
  }));
  return {
    listen: { port: 0 },
    ops: { port: 0 },
    auth: { mode: 'jwt', resource: RESOURCE, issuers: [{ issuer: ISSUER, keys: { secret: SECRET } }] },
    limits: { connectionsPerPrincipal: 5000 },
    policy: [...others, { roles: ['bench'], allow: { tools: ['bench/*'] } }],
    mcpServers: { bench: { command: process.execPath, args: [CHILD, String(tools)], isolation: 'shared' } },
  };
}
