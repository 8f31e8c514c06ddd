import { describe, expect, test } from 'vitest';
import { isUp, replica, updated } from '../support/redis-buses.ts';
import { redisServer } from '../support/redis-server.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';

const POLL = { timeout: 15_000 };
const events = (log: { readonly lines: readonly { event: string }[] }) => log.lines.map(({ event }) => event);

describe('connections that are killed', () => {
  test.each([
    ['normal', ['TYPE', 'normal']],
    ['pubsub', ['TYPE', 'pubsub']],
    ['replica', ['TYPE', 'replica']],
    ['master', ['TYPE', 'master']],
    ['of the user', ['USER', 'default']],
    ['all at once', ['SKIPME', 'no', 'TYPE', 'normal']],
  ])('%s: what is published meanwhile is heard once, and nothing is missed', async (_, filter) => {
    const server = await redisServer();
    const [here, there] = [await replica(server.url), await replica(server.url)];
    here.bus.publish(updated('x://1'));
    await expect.poll(there.uris, POLL).toEqual(['x://1']);
    await server.command('CLIENT', 'KILL', ...filter).catch(() => {});
    here.bus.publish(updated('x://2'));
    here.bus.publish(updated('x://3'));
    await expect.poll(there.uris, POLL).toEqual(['x://1', 'x://2', 'x://3']);
    await Promise.all([isUp(here.bus), isUp(there.bus)]);
    expect([here.missed(), there.missed()]).toEqual([0, 0]);
    expect(there.meter.read('bus_gaps_total', {})).toBe(0);
  });

  test('one by one, by their address', async () => {
    const server = await redisServer();
    const [here, there] = [await replica(server.url), await replica(server.url)];
    const clients = String(await server.command('CLIENT', 'LIST')).matchAll(/ addr=(\S+) .* cmd=(?!client)/g);
    for (const [, address = ''] of [...clients].slice(0, 4)) await server.command('CLIENT', 'KILL', address);
    here.bus.publish(updated('x://1'));
    there.bus.publish(updated('x://2'));
    await expect.poll(there.uris, POLL).toContain('x://1');
    await expect.poll(here.uris, POLL).toContain('x://2');
    expect([here.missed(), there.missed()]).toEqual([0, 0]);
  });

  test('three times in a row', async () => {
    const server = await redisServer();
    const [here, there] = [await replica(server.url), await replica(server.url)];
    for (const time of [1, 2, 3]) {
      await server.command('CLIENT', 'KILL', 'TYPE', 'normal');
      here.bus.publish(updated(`x://${time}`));
      await expect.poll(there.uris, POLL).toContain(`x://${time}`);
      await expect.poll(() => there.bus.isUp, { timeout: 5000 }).toBe(true);
    }
    expect(there.uris()).toEqual(['x://1', 'x://2', 'x://3']);
    expect(there.missed()).toBe(0);
    const changes = events(there.log);
    expect(changes.filter((event, at) => event === changes[at - 1])).toEqual([]);
    expect(changes.filter((event) => event === 'bus_down').length).toBeGreaterThanOrEqual(3);
  });
});

describe('a replica that is cut off', () => {
  test('hears on its return what the others published, in order', async () => {
    const server = await redisServer();
    const proxy = await tcpProxy(server.port);
    const [here, there] = [await replica(server.url), await replica(`redis://127.0.0.1:${proxy.port}`)];
    proxy.cut();
    await expect.poll(() => there.bus.isUp, POLL).toBe(false);
    const uris = Array.from({ length: 250 }, (_, at) => `x://${at}`);
    for (const uri of uris) here.bus.publish(updated(uri));
    await expect.poll(() => here.meter.read('bus_entries_total', { stage: 'published' }), POLL).toBe(250);
    proxy.mend();
    await expect.poll(there.uris, POLL).toEqual(uris);
    await isUp(there.bus);
    expect(there.missed()).toBe(0);
    expect(events(there.log)).toEqual(['bus_up', 'bus_down', 'bus_up']);
  });

  test('tells the others on its return what it published meanwhile: each change once, in order', async () => {
    const server = await redisServer();
    const proxy = await tcpProxy(server.port);
    const [here, there] = [await replica(`redis://127.0.0.1:${proxy.port}`), await replica(server.url)];
    proxy.cut();
    await expect.poll(() => here.bus.isUp, POLL).toBe(false);
    for (const uri of ['x://1', 'x://2', 'x://1', 'x://3']) here.bus.publish(updated(uri));
    await expect.poll(here.uris).toEqual(['x://1', 'x://2', 'x://3']);
    proxy.mend();
    await expect.poll(there.uris, POLL).toEqual(['x://1', 'x://2', 'x://3']);
    expect([here.missed(), there.missed()]).toEqual([0, 0]);
  });
});

describe('a server that is stopped', () => {
  test('and started with nothing kept: both catch up, and hear each other again', async () => {
    const server = await redisServer();
    const [here, there] = [await replica(server.url), await replica(server.url)];
    here.bus.publish(updated('x://before'));
    await expect.poll(there.uris, POLL).toEqual(['x://before']);
    await server.stop();
    await expect.poll(() => here.bus.isUp || there.bus.isUp, POLL).toBe(false);
    here.bus.publish(updated('x://meanwhile'));
    await server.start();
    await expect.poll(there.missed, POLL).toBe(1);
    await Promise.all([isUp(here.bus), isUp(there.bus)]);
    here.bus.publish(updated('x://after'));
    await expect.poll(there.uris, POLL).toContain('x://after');
    expect(there.meter.read('bus_gaps_total', {})).toBe(1);
    expect(events(there.log)).toEqual(['bus_up', 'bus_down', 'bus_gap', 'bus_up']);
  });
});
