/** Where replicas meet, as `bus.redis` says it. */
export type RedisAddress = SingleAddress | SentinelAddress | ClusterAddress;

export interface RedisNode {
  /** A name or an address, of IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

interface Access {
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export interface SingleAddress extends Access {
  readonly kind: 'single';
  readonly node: RedisNode;
  readonly database: number;
}

/** Sentinels say which server is the master now; user, password and database are the master's. */
export interface SentinelAddress extends Access {
  readonly kind: 'sentinel';
  readonly nodes: readonly RedisNode[];
  readonly master: string;
  readonly database: number;
}

/** Any nodes of a cluster; they name the others. */
export interface ClusterAddress extends Access {
  readonly kind: 'cluster';
  readonly nodes: readonly RedisNode[];
}

/** Completes "must be …". */
export const REDIS_ADDRESS =
  'a URL such as redis://user:password@host:6379/0, redis-sentinel://host:26379,host:26379/0?sentinelMasterId=name or redis-cluster://host:6379,host:6379, of rediss, rediss-sentinel or rediss-cluster for TLS';

const KINDS = new Map<string, RedisAddress['kind']>([
  ['', 'single'],
  ['-sentinel', 'sentinel'],
  ['-cluster', 'cluster'],
]);

const MAX_NODES = 64;

/** By hand: URL of the platform knows no lists of hosts. No part may hold what begins another, so that a text is read in one way. */
const FORM =
  /^redis(?<tls>s?)(?<kind>|-sentinel|-cluster):\/\/(?:(?<user>[^:@/?#\s]*):(?<password>[^:@/?#\s]+)@)?(?<hosts>[^@/?#\s]+)(?:\/(?<database>\d{0,5}))?(?:\?sentinelMasterId=(?<master>[A-Za-z0-9._-]+))?$/;

const NODE = /^(?:\[(?<v6>[0-9A-Fa-f:.]+)\]|(?<name>[A-Za-z0-9._-]+))(?::(?<port>\d{1,5}))?$/;

/** Reads a URL of one of these forms; undefined for every other text. */
export function readRedisAddress(text: string): RedisAddress | undefined {
  const parts = FORM.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const kind = KINDS.get(parts.kind ?? '');
  const access = readAccess(parts);
  const nodes = readNodes(parts.hosts ?? '', kind === 'sentinel' ? 26_379 : 6379);
  if (access === undefined || nodes === undefined) return undefined;
  const database = Number(parts.database ?? '');
  const { master } = parts;
  if (kind === 'sentinel') return master === undefined ? undefined : { kind, ...access, nodes, master, database };
  if (master !== undefined) return undefined;
  if (kind === 'cluster') return database === 0 ? { kind, ...access, nodes } : undefined;
  const [node, ...others] = nodes;
  return node === undefined || others.length > 0 ? undefined : { kind: 'single', ...access, node, database };
}

type Parts = Readonly<Record<string, string | undefined>>;

function readAccess({ tls, user, password }: Parts): Access | undefined {
  const [decodedUser, decodedPassword] = [decoded(user ?? ''), decoded(password ?? '')];
  if (decodedUser === undefined || decodedPassword === undefined) return undefined;
  return { tls: tls === 's', username: decodedUser || undefined, password: decodedPassword || undefined };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readNodes(hosts: string, defaultPort: number): RedisNode[] | undefined {
  const nodes = hosts.split(',', MAX_NODES + 1).map((host) => readNode(host, defaultPort));
  const whole = nodes.filter((node) => node !== undefined);
  return whole.length === nodes.length && whole.length <= MAX_NODES ? whole : undefined;
}

function readNode(text: string, defaultPort: number): RedisNode | undefined {
  const parts = NODE.exec(text)?.groups;
  const host = parts?.v6 ?? parts?.name;
  const port = Number(parts?.port ?? defaultPort);
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}
