import { expect, test } from 'vitest';
import { isUp, redisBus, replica, updated } from '../support/redis-buses.ts';
import { sentinelOf, sentinelSetup } from '../support/redis-sentinel.ts';

const POLL = { timeout: 30_000 };

test('replicas find the master by its Sentinel, and the next one when it fails', async () => {
  const { master, sentinel, masterPort } = await sentinelSetup();
  const url = `redis-sentinel://127.0.0.1:1,127.0.0.1:${sentinel.port}/0?sentinelMasterId=main`;
  const [here, there] = [await replica(url), await replica(url)];
  here.bus.publish(updated('x://1'));
  await expect.poll(there.uris, POLL).toEqual(['x://1']);
  await master.stop();
  await expect.poll(() => here.bus.isUp || there.bus.isUp, POLL).toBe(false);
  here.bus.publish(updated('x://2'));
  await expect.poll(masterPort, POLL).not.toBe(master.port);
  await Promise.all([isUp(here.bus), isUp(there.bus)]);
  here.bus.publish(updated('x://3'));
  await expect.poll(there.uris, POLL).toContain('x://3');
  expect(there.uris()).toEqual(['x://1', 'x://2', 'x://3']);
});

test('a master that is replaced while it lives is left', async () => {
  const { master, replica: second, sentinel, masterPort } = await sentinelSetup();
  const url = `redis-sentinel://127.0.0.1:${sentinel.port}?sentinelMasterId=main`;
  const [here, there] = [await replica(url), await replica(url)];
  await sentinel.command('SENTINEL', 'FAILOVER', 'main');
  await expect.poll(masterPort, POLL).toBe(second.port);
  await expect.poll(async () => String(await master.command('ROLE')), POLL).toContain('slave');
  here.bus.publish(updated('x://1'));
  await expect.poll(there.uris, POLL).toEqual(['x://1']);
  await Promise.all([isUp(here.bus), isUp(there.bus)]);
});

test('passwords of the servers are given to a Sentinel that asks for one, and to no other', async () => {
  const { sentinel } = await sentinelSetup({ password: 'secret', sentinelPassword: 'secret' });
  const open = await sentinelSetup({ password: 'secret' });
  await replica(`redis-sentinel://:secret@127.0.0.1:${sentinel.port}?sentinelMasterId=main`);
  await replica(`redis-sentinel://:secret@127.0.0.1:${open.sentinel.port}?sentinelMasterId=main`);
  const { bus, log } = redisBus(`redis-sentinel://:wrong@127.0.0.1:${sentinel.port}?sentinelMasterId=main`);
  await bus.opened;
  expect(JSON.stringify(log.lines)).toContain('WRONGPASS');
});

test('a master the Sentinel does not know is said to be unknown', async () => {
  const { sentinel } = await sentinelSetup();
  const { bus, log } = redisBus(`redis-sentinel://127.0.0.1:${sentinel.port}?sentinelMasterId=other`);
  await bus.opened;
  expect(log.lines).toEqual([{ event: 'bus_down', fields: { reason: 'The Sentinel knows no master other' } }]);
});

test('a server that is no master any more is not used, whatever a Sentinel says', async () => {
  const { replica: second } = await sentinelSetup();
  const stale = await sentinelOf([
    `sentinel monitor main 127.0.0.1 ${second.port} 2`,
    'sentinel down-after-milliseconds main 600000',
  ]);
  const { bus, log } = redisBus(`redis-sentinel://127.0.0.1:${stale.port}?sentinelMasterId=main`);
  await bus.opened;
  expect(log.lines).toEqual([{ event: 'bus_down', fields: { reason: 'The server the Sentinel names is no master' } }]);
});
