import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createClient } from '@redis/client';

export interface Redis {
  readonly url: string;
  /** Nanoseconds of the machine's monotonic clock at which an entry was published, for each from now on. */
  watch(published: (at: bigint) => void): Promise<void>;
  /** The median of so many round trips, in milliseconds. */
  roundTrip(times: number): Promise<number>;
  stop(): Promise<void>;
}

/** A redis-server of its own on 127.0.0.1, which must be on PATH. */
export async function startRedis(): Promise<Redis> {
  const port = await freePort();
  const server = spawn('redis-server', ['--bind', '127.0.0.1', '--port', String(port), '--save', ''], {
    stdio: 'ignore',
  });
  await Promise.race([once(server, 'spawn'), failed(server)]);
  const url = `redis://127.0.0.1:${port}`;
  const client = await createClient({ url }).on('error', ignored).connect();
  const watcher = client.duplicate().on('error', ignored);
  return {
    url,
    watch: async (published) => {
      const offset = await clockOffset(client);
      await watcher.connect();
      await watcher.monitor((line) => {
        const [, seconds, micros] = /^(\d+)\.(\d+) .*"XADD"/i.exec(String(line)) ?? [];
        if (seconds !== undefined && micros !== undefined) published(nanoseconds(seconds, micros) - offset);
      });
    },
    roundTrip: async (times) => {
      const took: number[] = [];
      for (let time = 0; time < times; time += 1) {
        const before = performance.now();
        await client.ping();
        took.push(performance.now() - before);
      }
      return took.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? Number.NaN;
    },
    stop: async () => {
      client.destroy();
      if (watcher.isOpen) watcher.destroy();
      const gone = once(server, 'exit');
      server.kill();
      await gone;
    },
  };
}

/** How far the server's clock is ahead of this machine's monotonic one, by the quickest of twenty questions. */
async function clockOffset(client: { time(): Promise<readonly string[]> }): Promise<bigint> {
  let best = { took: 1n << 62n, offset: 0n };
  for (let time = 0; time < 20; time += 1) {
    const before = process.hrtime.bigint();
    const [seconds, micros] = await client.time();
    const took = process.hrtime.bigint() - before;
    const offset = nanoseconds(seconds ?? '', micros ?? '') - before - took / 2n;
    if (took < best.took) best = { took, offset };
  }
  return best.offset;
}

function nanoseconds(seconds: string, micros: string): bigint {
  return BigInt(seconds) * 1_000_000_000n + BigInt(micros) * 1000n;
}

async function failed(server: ChildProcess): Promise<never> {
  await once(server, 'error').catch(() => {});
  throw new Error('redis-server is not on PATH');
}

const ignored = () => {};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return address !== null && typeof address === 'object' ? address.port : 0;
}
