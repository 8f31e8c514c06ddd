import type { RedisNode, SentinelAddress } from '../config/redis-address.ts';
import { dialServer } from './single.ts';
import { OPEN_MS, type Reply, type Wire, within } from './wire.ts';

/**
 * A connection to the server the Sentinels call master, once that one says so too. Asked anew at every connection: a master
 * that is replaced loses its connections, or does not answer.
 */
export async function dialMaster(address: SentinelAddress, ca: string | undefined): Promise<Wire> {
  const failures: unknown[] = [];
  for (const sentinel of shuffled(address.nodes)) {
    try {
      return await masterBy(sentinel, address, ca);
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures.at(-1);
}

async function masterBy(sentinel: RedisNode, address: SentinelAddress, ca: string | undefined): Promise<Wire> {
  const { tls, username, password, database, master } = address;
  const [host, port] = texts(await askSentinel(sentinel, address, ca));
  if (host === undefined || port === undefined) throw new Error(`The Sentinel knows no master ${master}`);
  const node = { host, port: Number(port) };
  const wire = await dialServer({ node, tls, ca, username, password, database });
  const [role] = texts(await within(OPEN_MS, wire.send('', ['ROLE']), wire.destroy));
  if (role === 'master') return wire;
  wire.destroy();
  throw new Error('The server the Sentinel names is no master');
}

/** Most Sentinels ask for no password; one that does is given the servers' own. */
async function askSentinel(node: RedisNode, address: SentinelAddress, ca: string | undefined): Promise<Reply> {
  const { tls, username, password, master } = address;
  const ask = async (access: { username?: string | undefined; password?: string | undefined }) => {
    const wire = await dialServer({ node, tls, ca, ...access });
    const question = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master];
    return within(OPEN_MS, wire.send('', question), wire.destroy).finally(wire.destroy);
  };
  try {
    return await ask({});
  } catch (error) {
    if (password === undefined || !(error instanceof Error && error.message.startsWith('NOAUTH'))) throw error;
    return ask({ username, password });
  }
}

function texts(reply: Reply): readonly (string | undefined)[] {
  return Array.isArray(reply) ? reply.map((item) => (typeof item === 'string' ? item : undefined)) : [];
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
