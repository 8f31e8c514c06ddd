import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type RedisServer, redisServer } from './redis-server.ts';

export interface SentinelChoice {
  /** Of the servers. */
  readonly password?: string;
  /** Of the Sentinel itself. */
  readonly sentinelPassword?: string;
}

/** A master, a replica of it, and a Sentinel that watches both and replaces a master it has not heard for a second. */
export async function sentinelSetup({ password, sentinelPassword }: SentinelChoice = {}) {
  const access = password === undefined ? [] : ['--requirepass', password, '--masterauth', password];
  const own = password === undefined ? {} : { password };
  const master = await redisServer({ args: access, ...own });
  const replica = await redisServer({ args: [...access, '--replicaof', `127.0.0.1 ${master.port}`], ...own });
  await expect
    .poll(async () => String(await replica.command('INFO', 'replication')), { timeout: 15_000 })
    .toContain('master_link_status:up');
  const lines = [
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds main 1000',
    'sentinel failover-timeout main 3000',
    ...(password === undefined ? [] : [`sentinel auth-pass main ${password}`]),
    ...(sentinelPassword === undefined ? [] : [`requirepass ${sentinelPassword}`]),
  ];
  const sentinel = await sentinelOf(lines, sentinelPassword);
  await expect.poll(() => masterPort(sentinel), { timeout: 15_000 }).toBe(master.port);
  await expect
    .poll(async () => String(await sentinel.command('INFO', 'sentinel')), { timeout: 20_000 })
    .toMatch(/status=ok,.*slaves=1/);
  return { master, replica, sentinel, masterPort: () => masterPort(sentinel) };
}

/** A Sentinel with these lines in its file. */
export function sentinelOf(lines: readonly string[], password?: string): Promise<RedisServer> {
  const command = ['redis-server', configFile(lines)] as const;
  return redisServer({ command, args: ['--sentinel'], ...(password === undefined ? {} : { password }) });
}

async function masterPort(sentinel: RedisServer): Promise<number> {
  const address = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main');
  return Number([address].flat()[1]);
}

/** A Sentinel writes into its own file. */
function configFile(lines: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-sentinel-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'sentinel.conf');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}
