import { expect, test } from 'vitest';
import { isUp, replica, updated } from '../support/redis-buses.ts';
import { moveSlot, ownerOf, redisCluster } from '../support/redis-cluster.ts';

const STREAM = '{test}:changes';
const POLL = { timeout: 30_000 };

async function two(password?: string) {
  const { nodes, isWhole } = await redisCluster(password);
  const access = password === undefined ? '' : `:${password}@`;
  const url = `redis-cluster://${access}127.0.0.1:1,${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  const [here, there] = [await replica(url), await replica(url)];
  here.bus.publish(updated('x://1'));
  await expect.poll(there.uris, POLL).toEqual(['x://1']);
  return { nodes, isWhole, here, there };
}

test('a slot that moves to another node is followed, and nothing is missed', async () => {
  const { nodes, here, there } = await two('secret');
  await moveSlot(nodes, STREAM, 'secret');
  here.bus.publish(updated('x://2'));
  await expect.poll(there.uris, POLL).toEqual(['x://1', 'x://2']);
  there.bus.publish(updated('x://3'));
  await expect.poll(here.uris, POLL).toContain('x://3');
  await Promise.all([isUp(here.bus), isUp(there.bus)]);
  expect([here.missed(), there.missed()]).toEqual([0, 0]);
});

test('the node of the slot goes and comes: both catch up', async () => {
  const { nodes, isWhole, here, there } = await two();
  const [owner] = await ownerOf(nodes, STREAM);
  await owner.stop();
  await expect.poll(() => here.bus.isUp || there.bus.isUp, POLL).toBe(false);
  here.bus.publish(updated('x://2'));
  await owner.start();
  await expect.poll(isWhole, POLL).toBe(true);
  await Promise.all([isUp(here.bus), isUp(there.bus)]);
  here.bus.publish(updated('x://3'));
  await expect.poll(there.uris, POLL).toContain('x://3');
  expect(there.missed()).toBeGreaterThanOrEqual(1);
});

test('another node goes: the replicas notice nothing', async () => {
  const { nodes, here, there } = await two();
  const [, other] = await ownerOf(nodes, STREAM);
  for (const node of nodes) await node.command('CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
  await other.stop();
  here.bus.publish(updated('x://2'));
  await expect.poll(there.uris, POLL).toEqual(['x://1', 'x://2']);
  expect([...here.log.lines, ...there.log.lines].map(({ event }) => event)).toEqual(['bus_up', 'bus_up']);
});
