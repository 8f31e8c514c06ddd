import { expect, test } from 'vitest';
import { createMac } from '../../src/auth/mac.ts';
import { MemoryBus } from '../../src/fanout/memory-bus.ts';
import { systemClock } from '../../src/observe/clock.ts';
import { RedisBus } from '../../src/redis/bus.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { fakeRedis } from '../support/fake-redis.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';
import { updated } from '../support/redis-buses.ts';

test('a server that takes half a second for each entry keeps the end waiting for a second at most', async () => {
  const commands = fakeRedis(() => new Promise((resolve) => setTimeout(resolve, 500, '1-1')));
  const [log, meter, clock] = [recordedLog(), recordedMeter(), systemClock()];
  const mac = createMac(['a key of at least thirty-two bytes'], 'bus');
  const reading = fakeRedis(() => new Promise(() => {}));
  const parts = { commands, reading, keys: keysOf('p'), mac, coalesceMs: 100 };
  const bus = new RedisBus({ ...parts, local: new MemoryBus(log), clock, meter, log });
  // All of it would take eight seconds.
  for (let at = 0; at < 1000; at += 1) bus.publish(updated(`x://${at}`));
  const began = performance.now();
  await bus.close();
  expect(performance.now() - began).toBeLessThan(3000);
  expect(commands.sent.length).toBeGreaterThan(1);
});
