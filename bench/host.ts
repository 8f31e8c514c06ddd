import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Report } from './hosts/report.ts';

/** A process under measurement. */
export interface Host {
  readonly url: string;
  report(what: 'cpu' | 'memory'): Promise<Report>;
  stop(): Promise<void>;
}

/** Starts `bench/hosts/<name>` and waits until it can be connected to. Its output goes nowhere. */
export async function startHost(
  name: 'gateway' | 'hand-relay' | 'list-server',
  args: readonly string[],
): Promise<Host> {
  const child = fork(`dist-tools/bench/hosts/${name}.js`, args, {
    execArgv: ['--expose-gc', ...(process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter((option) => option !== '')],
    stdio: ['ignore', 'ignore', process.env.BENCH_LOG === undefined ? 'ignore' : 'inherit', 'ipc'],
  });
  const told = await answer(child);
  const url = typeof told === 'object' && told !== null && 'url' in told ? String(told.url) : '';
  return {
    url,
    report: async (what) => {
      child.send(what);
      return readReport(await answer(child));
    },
    stop: async () => {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

function answer(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('the process under measurement ended'));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}

function readReport(value: unknown): Report {
  if (typeof value !== 'object' || value === null || !('cpu' in value) || !('memory' in value))
    throw new Error('no report');
  return { cpu: Number(value.cpu), memory: Number(value.memory) };
}
