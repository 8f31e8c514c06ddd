import { resolve } from 'node:path';
import { SignJWT } from 'jose';
import { stringify } from 'yaml';
import type { Era } from '../src/protocol/era.ts';
import { type Host, startHost } from './host.ts';
import { Load } from './load.ts';
import { UPSTREAM } from './names.ts';
import { scratchFile } from './scratch.ts';
import type { Door } from './socket.ts';

export interface GatewayShape {
  /** Arguments of the child behind it: so many tools, or a file of definitions; and its era. */
  readonly child: readonly [tools: string, era: Era];
  /** Glob rules that do not concern the caller, before the one that allows it. */
  readonly rules: number;
}

export const CHILD = resolve('bench/hosts/echo-child.mjs');
const NEWS_CHILD = resolve('bench/hosts/news-child.mjs');
export const USUAL: GatewayShape = { child: ['10', 'handshake'], rules: 2 };
const SECRET = 'a secret of the benchmark, 32 bytes at least';
const ISSUER = 'bench';
const RESOURCE = 'https://bench.example/mcp';

/** Active, and never reached: all sockets of the load are one principal. */
const RATE = { rate: 1_000_000, burst: 1_000_000 };

/** A gateway with JWT, policy, audit and metrics on, before one stdio child. */
export function startGateway(shape: GatewayShape): Promise<Host> {
  return startHost('gateway', [scratchFile(stringify(configOf(shape)))]);
}

/** One of the replicas that share this Redis, before a child of its own that tells of news. What a change waits for by configuration it does not wait for here. */
export function startReplica(redis: string): Promise<Host> {
  const { mcpServers: _, policy: __, ...usual } = configOf(USUAL);
  const child = { command: process.execPath, args: [NEWS_CHILD], isolation: 'shared' };
  return startHost('gateway', [
    scratchFile(
      stringify({
        ...usual,
        policy: [{ roles: ['bench'], allow: { tools: ['**'], resources: ['**'] } }],
        mcpServers: { [UPSTREAM]: child },
        timing: { listChangeCoalesce: '0ms' },
        bus: { redis },
        seal: { keys: [SECRET] },
      }),
    ),
  ]);
}

export async function connect(gateway: Host, era?: Era): Promise<Load> {
  return Load.connect(await doorOf(gateway), era);
}

export async function doorOf({ url }: Host): Promise<Door> {
  return { url, token: await token() };
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

function configOf({ child, rules }: GatewayShape): Record<string, unknown> {
  const others = Array.from({ length: rules - 1 }, (_, at) => ({
    roles: ['bench'],
    allow: { tools: [`other${at}/*_${at}`] },
  }));
  return {
    listen: { port: 0 },
    ops: { port: 0 },
    auth: { mode: 'jwt', resource: RESOURCE, issuers: [{ issuer: ISSUER, keys: { secret: SECRET } }] },
    limits: { connectionsPerPrincipal: 5000, requestsPerSecond: RATE },
    policy: [...others, { roles: ['bench'], allow: { tools: [`${UPSTREAM}/*`] } }],
    mcpServers: { [UPSTREAM]: { command: process.execPath, args: [CHILD, ...child], isolation: 'shared' } },
  };
}
