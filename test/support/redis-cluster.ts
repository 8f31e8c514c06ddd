import { expect } from 'vitest';
import { freePort } from './free-port.ts';
import { type RedisServer, redisServer } from './redis-server.ts';

const SLOTS = 16_384;

/** Three masters that share the slots. */
export async function redisCluster(password?: string) {
  const access = password === undefined ? [] : ['--requirepass', password, '--masterauth', password];
  const nodes: RedisServer[] = [];
  const busPorts: number[] = [];
  for (const _ of [1, 2, 3]) {
    const busPort = await freePort();
    const args = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '2000'];
    nodes.push(await redisServer({ args: [...args, ...access], ...(password === undefined ? {} : { password }) }));
    busPorts.push(busPort);
  }
  for (const [at, node] of nodes.entries()) {
    const [from, to] = [Math.ceil((at * SLOTS) / 3), Math.ceil(((at + 1) * SLOTS) / 3) - 1];
    await node.command('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
    for (const [other, { host, port }] of nodes.entries()) {
      if (other !== at) await node.command('CLUSTER', 'MEET', host, String(port), String(busPorts[other]));
    }
  }
  const isWhole = async () => {
    const infos = await Promise.all(nodes.map((node) => node.command('CLUSTER', 'INFO')));
    return infos.every((info) => /cluster_state:ok[\s\S]*cluster_known_nodes:3/.test(String(info)));
  };
  await expect.poll(isWhole, { timeout: 20_000 }).toBe(true);
  return { nodes, isWhole };
}

/** The node that has the slot of a key, and another one. */
export async function ownerOf(
  nodes: readonly RedisServer[],
  key: string,
): Promise<readonly [RedisServer, RedisServer]> {
  const slot = Number(await nodes[0]?.command('CLUSTER', 'KEYSLOT', key));
  const at = nodes.findIndex((_, index) => slot < Math.ceil(((index + 1) * SLOTS) / 3));
  const [owner, other] = [nodes[at], nodes[(at + 1) % nodes.length]];
  if (owner === undefined || other === undefined) throw new Error('no owner');
  return [owner, other];
}

/** Moves the slot of a key, with the key, as a rebalancing does. */
export async function moveSlot(nodes: readonly RedisServer[], key: string, password?: string): Promise<void> {
  const [owner, other] = await ownerOf(nodes, key);
  const slot = String(await owner.command('CLUSTER', 'KEYSLOT', key));
  const idOf = async (node: RedisServer) => String(await node.command('CLUSTER', 'MYID'));
  const [ownerId, otherId] = [await idOf(owner), await idOf(other)];
  await other.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ownerId);
  await owner.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', otherId);
  const access = password === undefined ? [] : ['AUTH', password];
  await owner.command('MIGRATE', other.host, String(other.port), key, '0', '2000', ...access);
  for (const node of [other, owner, ...nodes]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', otherId);
}
