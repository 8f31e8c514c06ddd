import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { fileWith } from './config-fixtures.ts';

export interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

export interface Serving {
  readonly url: string;
  readonly opsUrl: string;
  /** Resolves once it has ended, for whatever reason. */
  readonly ended: Promise<Ended>;
  signal(signal: NodeJS.Signals): void;
  /** Nobody reads its standard output and error any more. */
  hangUp(): void;
  /** Signals it and resolves once it has ended. */
  stop(signal: NodeJS.Signals): Promise<Ended & { readonly tookMs: number }>;
}

const QUIET = { listen: { port: 0 }, ops: { port: 0 }, auth: { mode: 'anonymous' }, audit: { sink: 'off' } };

/** `serve` of the built gateway in a process of its own, ended with the test. Rejects when it ends before it listens. */
export async function serve(config: Readonly<Record<string, unknown>>): Promise<Serving> {
  const { child, ended } = run(config);
  const address = await Promise.race([listening(child), ended.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
  return {
    ...address,
    ended,
    signal: (signal) => void child.kill(signal),
    hangUp() {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    async stop(signal) {
      const start = performance.now();
      child.kill(signal);
      const end = await ended;
      return { ...end, tookMs: performance.now() - start };
    },
  };
}

/** The same for one that cannot start. */
export function failToServe(config: Readonly<Record<string, unknown>>): Promise<Ended> {
  return run(config).ended;
}

function run(config: Readonly<Record<string, unknown>>): { child: ChildProcess; ended: Promise<Ended> } {
  const file = fileWith('gateway.yaml', stringify({ ...QUIET, ...config }));
  const child = spawn(process.execPath, [resolve('dist/main.js'), 'serve', '--config', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.resume();
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, stderr }));
  return { child, ended };
}

async function listening({ stderr }: ChildProcess): Promise<{ url: string; opsUrl: string }> {
  if (stderr === null) throw new Error('no stderr');
  for await (const line of createInterface({ input: stderr })) {
    const { event, url, ops } = JSON.parse(line);
    if (event === 'listening') return { url, opsUrl: ops };
  }
  return new Promise(() => {});
}
