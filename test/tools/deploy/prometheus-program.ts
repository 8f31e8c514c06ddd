import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../../support/free-port.ts';
import { until } from '../trial/until.ts';
import type { Deploy } from './check.ts';
import { missing } from './command.ts';

/** It loads its rules and opens its storage first. */
const READY_MS = 20_000;
/** A query or a list of rules is answered at once or not at all. */
const ANSWER_MS = 10_000;

export interface Rule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  readonly state?: string;
}

export interface Target {
  readonly scrapeUrl: string;
  readonly health: string;
  readonly lastError: string;
}

export interface Prometheus {
  /** How many series an expression has now; rejects with what Prometheus says of one it cannot evaluate. */
  series(expression: string): Promise<number>;
  rules(): Promise<readonly Rule[]>;
  targets(): Promise<readonly Target[]>;
}

/** A real Prometheus on loopback that scrapes these every second and evaluates the rules of the package as often. */
export async function startPrometheus(deploy: Deploy, targets: readonly string[]): Promise<Prometheus> {
  const directory = join(deploy.scratch, 'prometheus');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, stringify(configuration(join(deploy.root, 'deploy/prometheus/rules.yml'), targets)));
  const url = `http://127.0.0.1:${await freePort()}`;
  const options = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=${new URL(url).host}`,
  ];
  const child = spawn('prometheus', options, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-4000);
  });
  await Promise.race([
    once(child, 'spawn'),
    once(child, 'error').then(([error]) => Promise.reject(missing('prometheus', error))),
  ]);
  deploy.onEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const isReady = async () => {
    const answer = await fetch(`${url}/-/ready`).catch(() => undefined);
    return answer?.ok === true || child.exitCode !== null;
  };
  if (!(await until(isReady, READY_MS, 100)) || child.exitCode !== null) throw new Error(`no Prometheus:\n${log}`);
  return clientOf(url);
}

function configuration(rules: string, targets: readonly string[]): object {
  return {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'mcp-ws-gateway', static_configs: [{ targets }] }],
  };
}

function clientOf(url: string): Prometheus {
  const ask = async (path: string) => {
    const answer = await fetch(`${url}/api/v1/${path}`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const { status, data, error } = (await answer.json()) as { status: string; data: unknown; error?: string };
    if (status !== 'success') throw new Error(error ?? `HTTP ${answer.status}`);
    return data;
  };
  return {
    series: async (expression) => {
      const { result } = (await ask(`query?${new URLSearchParams({ query: expression })}`)) as { result: unknown[] };
      return result.length;
    },
    rules: async () => {
      const { groups } = (await ask('rules')) as { groups: { rules: Rule[] }[] };
      return groups.flatMap(({ rules }) => rules);
    },
    targets: async () => ((await ask('targets')) as { activeTargets: Target[] }).activeTargets,
  };
}
