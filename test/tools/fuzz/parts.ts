import { resolve } from 'node:path';
import { serveHttpPeer } from '../trial/peer-http.ts';
import { type PeerServer, servePeer } from '../trial/peer-websocket.ts';
import { AUTH, signToken } from '../trial/tokens.ts';
import type { Rules } from './conversation.ts';
import type { Door } from './door.ts';

const STDIO_PEER = resolve('dist-tools/test/tools/trial/peer-stdio.js');

/** The servers behind the gateway: one of each kind, and `hidden`, which every rule denies. */
export interface Upstreams {
  readonly mcpServers: object;
  /** Calls that have reached `hidden`. */
  readonly leaked: () => number;
  close(): void;
}

export async function openUpstreams(): Promise<Upstreams> {
  let leaked = 0;
  const servers: PeerServer[] = [await servePeer('socket', 'handshake'), await serveHttpPeer('web')];
  servers.push(await servePeer('hidden', 'handshake', { began: () => (leaked += 1) }));
  const [socket, web, hidden] = servers.map(({ url }) => url);
  const child = (key: string, era: string) => ({ command: process.execPath, args: [STDIO_PEER, key, era] });
  return {
    mcpServers: {
      pipe: { ...child('pipe', 'handshake'), isolation: 'shared' },
      socket: { url: socket, maxLinks: 1000 },
      modern: { ...child('modern', 'modern'), isolation: 'shared' },
      web: { url: web, maxLinks: 1000 },
      hidden: { url: hidden, isolation: 'shared' },
    },
    leaked: () => leaked,
    close: () => {
      for (const server of servers) server.close();
    },
  };
}

const ALL = { tools: ['**'], resources: ['**'], prompts: ['**'], methods: ['**'] };
const POLICY = [
  { allow: ALL },
  { deny: { tools: ['hidden/**'], prompts: ['hidden/**'], methods: ['hidden/**'], resources: ['trial://hidden/**'] } },
];

/** Raised, so that volume is not what is tested. */
const RAISED = {
  connectionsPerPrincipal: 1000,
  maxMessage: '512KiB',
  requestsPerSecond: null,
  handshakes: { pending: 1000, perAddress: null },
};

/** The gateway ends a socket at the 20th within a minute, whatever its configuration; a batch may bring several. */
const TOLERATED = 14;

/** One gateway under fuzz, and which share of the mutants it gets. */
export interface Part {
  readonly name: string;
  readonly share: number;
  readonly config: object;
  readonly rules: Rules;
  /** Of its conversations, how many are upgrades. */
  readonly upgrades: number;
}

const log = { level: 'info' };

export const PARTS: readonly Part[] = [
  {
    name: 'frames and upgrades',
    share: 0.8,
    config: { log, auth: AUTH, limits: RAISED, policy: POLICY },
    rules: { framing: 'websocket', closes: [], malformed: TOLERATED, drops: false },
    upgrades: 0.8,
  },
  {
    name: 'lines',
    share: 0.15,
    config: {
      log,
      auth: { mode: 'anonymous' },
      limits: RAISED,
      policy: POLICY,
      listen: { port: 0, tcp: { host: '127.0.0.1', port: 0 } },
    },
    rules: { framing: 'lines', closes: [], malformed: TOLERATED, drops: false },
    upgrades: 0,
  },
  {
    name: 'with limits as they are',
    share: 0.05,
    config: { log, auth: AUTH, policy: POLICY, limits: { maxMessage: '512KiB' } },
    rules: { framing: 'websocket', closes: [1013, 4400, 4429], malformed: Number.POSITIVE_INFINITY, drops: true },
    upgrades: 0.5,
  },
];

export function doorOf(part: Part, { port, tcpPort }: { readonly port: number; readonly tcpPort: number }): Door {
  const tokens = (sub: string) => signToken({ sub });
  return { port, tcpPort, ...(part.rules.framing === 'lines' ? {} : { tokens }) };
}
