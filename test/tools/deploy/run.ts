import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Check, Deploy } from './check.ts';
import { endCommands, runCommand } from './command.ts';
import { COMPOSE_CHECKS } from './compose-checks.ts';
import { DOCKER_CHECKS } from './docker-checks.ts';
import { HELM_CHECKS } from './helm-checks.ts';
import { PROMETHEUS_CHECKS } from './prometheus-checks.ts';

/**
 * `npm run test:deploy`: what the package ships for its operation, run for real. Prints one row per check and exits 1 if
 * any failed. Arguments choose rows by how their names begin.
 */
const CHECKS: readonly Check[] = [...DOCKER_CHECKS, ...COMPOSE_CHECKS, ...HELM_CHECKS, ...PROMETHEUS_CHECKS];
const NAME_WIDTH = Math.max(...CHECKS.map(({ name }) => name.length));

type Task = () => Promise<void> | void;
const tasks: Task[] = [];
let isEnding = false;

const deploy: Deploy = {
  root: process.cwd(),
  scratch: mkdtempSync(join(tmpdir(), 'deploy-')),
  onEnd: (task) => void tasks.push(task),
  sh: runCommand,
};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void endBy(signal));
process.exitCode = await runAll(wanted(process.argv.slice(2)));
await endAll();

async function runAll(checks: readonly Check[]): Promise<number> {
  let failed = 0;
  for (const check of checks) {
    if (isEnding) break;
    const started = performance.now();
    const { isOk, detail } = await outcome(check);
    if (!isOk) failed += 1;
    printRow(isOk, check.name, (performance.now() - started) / 1000, detail);
  }
  process.stdout.write(`\n${checks.length - failed} ok, ${failed} failed\n`);
  return failed === 0 && checks.length > 0 ? 0 : 1;
}

async function outcome(check: Check): Promise<{ isOk: boolean; detail: string }> {
  try {
    return { isOk: true, detail: (await check.run(deploy)) ?? '' };
  } catch (error) {
    return { isOk: false, detail: sentenceOf(error) };
  }
}

/** With what it came from: fetch says that it failed, and only its cause says how. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function printRow(isOk: boolean, name: string, seconds: number, detail: string): void {
  const [first = '', ...rest] = detail.split('\n');
  const row = [isOk ? 'ok    ' : 'FAILED', name.padEnd(NAME_WIDTH), seconds.toFixed(1).padStart(6), first];
  process.stdout.write(`${row.join('  ').trimEnd()}\n`);
  for (const line of rest) process.stdout.write(`        ${line}\n`);
}

function wanted(prefixes: readonly string[]): readonly Check[] {
  if (prefixes.length === 0) return CHECKS;
  return CHECKS.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)));
}

/** A task that fails is shown and stops none of the others. */
async function endAll(): Promise<void> {
  endCommands();
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    try {
      await Promise.resolve().then(task);
    } catch (error) {
      process.stderr.write(`at the end: ${sentenceOf(error)}\n`);
      process.exitCode = 1;
    }
  }
  endCommands();
  rmSync(deploy.scratch, { recursive: true, force: true });
}

async function endBy(signal: NodeJS.Signals): Promise<void> {
  isEnding = true;
  await endAll();
  process.kill(process.pid, signal);
}
