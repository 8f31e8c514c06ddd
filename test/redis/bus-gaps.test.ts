import { describe, expect, test } from 'vitest';
import { isUp, replica, updated } from '../support/redis-buses.ts';
import { redisServer } from '../support/redis-server.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';

const STREAM = '{test}:changes';
const POLL = { timeout: 15_000 };

/** Two replicas that have heard each other, the second behind a network that can be cut. */
async function two() {
  const server = await redisServer();
  const proxy = await tcpProxy(server.port);
  const [here, there] = [await replica(server.url), await replica(`redis://127.0.0.1:${proxy.port}`)];
  here.bus.publish(updated('x://first'));
  await expect.poll(there.uris, POLL).toEqual(['x://first']);
  const written = (count: number) =>
    expect.poll(() => here.meter.read('bus_entries_total', { stage: 'published' }), POLL).toBe(count);
  const gaps = () => there.meter.read('bus_gaps_total', {});
  const reasons = () => there.log.lines.filter(({ event }) => event === 'bus_gap').map(({ fields }) => fields.reason);
  return { server, proxy, here, there, written, gaps, reasons };
}

describe('a gap: anything may have changed, and what comes next is heard', () => {
  test('the stream was trimmed past a replica that was away', async () => {
    const { server, proxy, here, there, written, gaps, reasons } = await two();
    proxy.cut();
    for (const uri of ['x://1', 'x://2', 'x://3']) here.bus.publish(updated(uri));
    await written(4);
    await server.command('XTRIM', STREAM, 'MAXLEN', '1');
    proxy.mend();
    await expect.poll(there.missed, POLL).toBe(1);
    here.bus.publish(updated('x://4'));
    await expect.poll(there.uris, POLL).toContain('x://4');
    expect(there.uris()).not.toContain('x://1');
    expect([gaps(), reasons()]).toEqual([1, ['trimmed']]);
  });

  test('entries came and went before they were read, while it listened', async () => {
    const { server, there, gaps } = await two();
    const script = `for at = 1, 3 do redis.call('XADD', KEYS[1], '*', 'junk', at) end
      redis.call('XTRIM', KEYS[1], 'MAXLEN', 1)`;
    await server.command('EVAL', script, '1', STREAM);
    await expect.poll(there.missed, POLL).toBe(1);
    expect(gaps()).toBe(1);
  });

  test.each(['FLUSHALL', `DEL ${STREAM}`])('the stream is gone: %s', async (command) => {
    const { server, here, there, gaps, reasons } = await two();
    await server.command(...command.split(' '));
    // When the read that is under way has ended empty.
    await expect.poll(there.missed, { timeout: 5000 }).toBe(1);
    here.bus.publish(updated('x://1'));
    await expect.poll(there.uris, POLL).toContain('x://1');
    expect([gaps(), reasons()]).toEqual([1, ['backwards']]);
  });

  test('ids go backwards: the clock of the server was set back, or another server took over', async () => {
    const { server, there, reasons } = await two();
    await server.command('DEL', STREAM);
    await server.command('XADD', STREAM, '1-1', 'old', 'entry');
    await expect.poll(there.missed, POLL).toBe(1);
    expect(reasons()).toEqual(['backwards']);
  });

  test('ids go on and an entry of another replica is missing: a server took over that had not got it', async () => {
    const { server, proxy, here, there, written, gaps, reasons } = await two();
    proxy.cut();
    here.bus.publish(updated('x://1'));
    await written(2);
    const [lost = ''] = [await server.command('XREVRANGE', STREAM, '+', '-', 'COUNT', '1')].flat(3).map(String);
    await server.command('XDEL', STREAM, lost);
    await server.command('XSETID', STREAM, lost, 'ENTRIESADDED', '1', 'MAXDELETEDID', '0-0');
    here.bus.publish(updated('x://2'));
    await written(3);
    proxy.mend();
    await expect.poll(there.uris, POLL).toEqual(['x://first', 'x://2']);
    expect([there.missed(), gaps(), reasons()]).toEqual([1, 1, ['missing']]);
  });

  test('more waits for the server than is kept: the others are told that anything may have changed', async () => {
    const server = await redisServer();
    const proxy = await tcpProxy(server.port);
    const [here, there] = [await replica(`redis://127.0.0.1:${proxy.port}`), await replica(server.url)];
    proxy.cut();
    await expect.poll(() => here.bus.isUp, POLL).toBe(false);
    for (let at = 0; at < 1010; at += 1) here.bus.publish(updated(`x://${at}`), 'elsewhere');
    expect(here.meter.read('bus_entries_total', { stage: 'lost' })).toBe(10);
    proxy.mend();
    await expect.poll(there.missed, POLL).toBe(1);
    await expect.poll(there.uris, POLL).toEqual(Array.from({ length: 1000 }, (_, at) => `x://${at}`));
    expect(there.meter.read('bus_gaps_total', {})).toBe(0);
  });
});

describe('no gap', () => {
  test('a stream trimmed behind its readers, to nothing', async () => {
    const { server, here, there, gaps } = await two();
    await server.command('XTRIM', STREAM, 'MAXLEN', '0');
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await isUp(there.bus);
    here.bus.publish(updated('x://1'));
    await expect.poll(there.uris, POLL).toContain('x://1');
    // A read that ends empty after three seconds is followed by a look at the stream.
    const looks = async () =>
      /cmdstat_xinfo[^:]*:calls=(\d+)/.exec(String(await server.command('INFO', 'commandstats')))?.[1];
    const before = Number(await looks());
    await expect.poll(async () => Number(await looks()), POLL).toBeGreaterThanOrEqual(before + 4);
    expect([gaps(), there.missed(), here.missed()]).toEqual([0, 0, 0]);
  });

  test('replicas that start on an empty server, and on one with entries of others', async () => {
    const { server, here, there, gaps } = await two();
    const third = await replica(server.url);
    here.bus.publish(updated('x://1'));
    await expect.poll(third.uris, POLL).toEqual(['x://1']);
    await expect.poll(there.uris, POLL).toEqual(['x://first', 'x://1']);
    expect([gaps(), third.meter.read('bus_gaps_total', {}), third.missed()]).toEqual([0, 0, 0]);
  });
});
