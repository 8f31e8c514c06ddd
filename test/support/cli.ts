import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface CliOptions {
  /** Over the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the built gateway to its end; killed when the test ends before it. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<Ran> {
  return startCli(args, options).ended;
}

export interface StartedCli {
  readonly pid: number;
  readonly ended: Promise<Ran>;
}

/** The same, before its end. */
export function startCli(args: readonly string[], options: CliOptions = {}): StartedCli {
  const child = spawnCli(args, options);
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { pid: pidOf(child), ended: ended.then(([stdout, stderr]) => ({ code: child.exitCode, stdout, stderr })) };
}

export interface Serving {
  readonly url: string;
  readonly opsUrl: string;
  /** Lines of its log so far, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** Lines of its standard output so far. */
  readonly stdout: readonly string[];
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** `serve`, once it listens; stopped by whoever started it. Rejects with its log when it ends instead. */
export async function startServing(file: string, options: CliOptions = {}): Promise<Serving> {
  const child = spawnCli(['serve', '--config', file], options);
  const closed = once(child, 'close');
  const log: Record<string, unknown>[] = [];
  const stdout: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => stdout.push(line));
  const listening = new Promise<Record<string, unknown>>((settle, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const entry: Record<string, unknown> = line.startsWith('{') ? JSON.parse(line) : { line };
      log.push(entry);
      if (entry.event === 'listening') settle(entry);
    });
    void closed.then(() => reject(new Error(`serve ended: ${JSON.stringify(log)}`)));
  });
  const { url, ops } = await listening;
  return {
    url: String(url),
    opsUrl: String(ops),
    log,
    stdout,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      return child.exitCode;
    },
  };
}

function spawnCli(
  args: readonly string[],
  { env = {}, cwd }: CliOptions,
): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [resolve('dist/main.js'), ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function pidOf({ pid }: { readonly pid?: number | undefined }): number {
  if (pid === undefined) throw new Error('the process was not started');
  return pid;
}
