import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { onTestFinished } from 'vitest';
import type { Reply } from '../../src/redis/connection.ts';
import { freePort } from './free-port.ts';

type Over = (task: () => Promise<void>) => void;

export interface RedisServerOptions {
  /** Beside the port, as on the command line; `--port 0` and the like come last and win. */
  readonly args?: readonly string[];
  /** How to run it: `redis-server` on PATH unless given, such as `['ip', 'netns', 'exec', 'x', 'redis-server']`. */
  readonly command?: readonly [string, ...string[]];
  readonly host?: string;
  /** Of the client `command` uses. */
  readonly password?: string;
  /** When it ends: with the test, unless given. */
  readonly over?: Over;
}

export interface RedisServer {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Again on the same port, with nothing kept. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** SIGSTOP: it is there and says nothing. */
  freeze(): void;
  thaw(): void;
  /** One command on a connection of its own. */
  command(...args: readonly string[]): Promise<Reply>;
}

const READY_MS = 10_000;

/** A real server on loopback that keeps nothing on disk. */
export async function redisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { args = [], command = ['redis-server'], host = '127.0.0.1', password, over = onTestFinished } = options;
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'gateway-redis-'));
  let child: ChildProcess | undefined;
  const running = () => {
    if (child === undefined) throw new Error('redis-server is not running');
    return child;
  };
  const run = async (...words: readonly string[]) => commandAt({ host, port, password }, words);
  const start = async () => {
    const [file, ...before] = command;
    const own = ['--bind', host, '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', directory];
    child = spawn(file, [...before, ...own, ...args], { stdio: 'ignore' });
    const ended = once(child, 'exit').then(() => Promise.reject(new Error(`redis-server ended: ${args.join(' ')}`)));
    await Promise.race([ended, answers(run)]);
    ended.catch(() => {});
  };
  const stop = async () => {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null) return;
    const ended = once(ending, 'exit');
    ending.kill('SIGKILL');
    await ended;
  };
  over(async () => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  });
  await start();
  return {
    host,
    port,
    url: `redis://${password === undefined ? '' : `:${password}@`}${host}:${port}`,
    start,
    stop,
    freeze: () => void running().kill('SIGSTOP'),
    thaw: () => void running().kill('SIGCONT'),
    command: run,
  };
}

/** The URL of the server `npm run test:redis` is given, or of one of its own. */
export async function anyRedis(over?: Over): Promise<string> {
  const given = process.env.REDIS_URL;
  if (given !== undefined && given !== '') return given;
  return (await redisServer(over === undefined ? {} : { over })).url;
}

export function hasRedisServer(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly password?: string | undefined;
}

/** One command on a connection of its own. */
async function commandAt({ host, port, password }: Place, args: readonly string[]): Promise<Reply> {
  const client = createClient({
    RESP: 2,
    disableClientInfo: true,
    ...(password === undefined ? {} : { password }),
    socket: { host, port, reconnectStrategy: false, connectTimeout: 2000 },
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.sendCommand<Reply>([...args]);
  } finally {
    client.destroy();
  }
}

async function answers(run: (...words: readonly string[]) => Promise<Reply>): Promise<void> {
  const end = Date.now() + READY_MS;
  for (;;) {
    const failure = await run('PING').then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure === undefined) return;
    if (Date.now() > end) throw failure;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
