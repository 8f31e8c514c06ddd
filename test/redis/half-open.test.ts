import { describe, expect, test } from 'vitest';
import { networkNamespace } from '../support/network-namespace.ts';
import { isUp, replica, updated } from '../support/redis-buses.ts';
import { redisServer } from '../support/redis-server.ts';

const POLL = { timeout: 20_000 };

/** A server in a network of its own with two addresses; the second replica's can be made to swallow every packet. */
async function two() {
  const network = networkNamespace();
  const [one, other] = network.addresses;
  const server = await redisServer({
    host: one,
    command: ['ip', ...network.command.slice(1), 'redis-server'],
    args: ['--bind', one, other, '--protected-mode', 'no'],
  });
  const [here, there] = [await replica(server.url), await replica(`redis://${other}:${server.port}`)];
  here.bus.publish(updated('x://1'));
  await expect.poll(there.uris, POLL).toEqual(['x://1']);
  return { here, there, drop: () => network.drop(other) };
}

describe('a link whose packets vanish', () => {
  test('is found within 8 s; what was published meanwhile, there and here, is heard once it is whole', async () => {
    const { here, there, drop } = await two();
    const mend = drop();
    await expect.poll(() => there.bus.isUp, { timeout: 8000 }).toBe(false);
    expect(here.bus.isUp).toBe(true);
    here.bus.publish(updated('x://2'));
    there.bus.publish(updated('x://3'));
    mend();
    await expect.poll(there.uris, POLL).toEqual(['x://1', 'x://3', 'x://2']);
    await expect.poll(here.uris, POLL).toEqual(['x://1', 'x://2', 'x://3']);
    await isUp(there.bus);
    expect([here.missed(), there.missed()]).toEqual([0, 0]);
    expect(there.log.lines.slice(0, 3).map(({ event }) => event)).toEqual(['bus_up', 'bus_down', 'bus_up']);
  });

  test('and come again within a second costs nothing', async () => {
    const { here, there, drop } = await two();
    drop()();
    here.bus.publish(updated('x://2'));
    await expect.poll(there.uris, POLL).toEqual(['x://1', 'x://2']);
    expect(there.log.lines.map(({ event }) => event)).toEqual(['bus_up']);
  });

  test('three times in a row', async () => {
    const { here, there, drop } = await two();
    for (const time of [2, 3, 4]) {
      const mend = drop();
      await expect.poll(() => there.bus.isUp, { timeout: 8000 }).toBe(false);
      here.bus.publish(updated(`x://${time}`));
      mend();
      await expect.poll(there.uris, POLL).toContain(`x://${time}`);
      await isUp(there.bus);
    }
    expect(there.uris()).toEqual(['x://1', 'x://2', 'x://3', 'x://4']);
    expect(there.missed()).toBe(0);
  });
});
