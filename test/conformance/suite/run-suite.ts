import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Tools } from './install.ts';
import type { Suite } from './suites.ts';
import type { Check, Ran } from './verdict.ts';

/** A suite that takes longer has hung. Milliseconds. */
const LIMIT = 300_000;

/** Runs the whole set against a server, or the named scenarios of it alone. */
export async function runSuite(
  tools: Tools,
  suite: Suite,
  url: string,
  scenarios: readonly string[],
): Promise<readonly Ran[]> {
  if (scenarios.length === 0) return start(tools, suite, ['--url', url, ...suite.whole]);
  const ran: Ran[] = [];
  for (const scenario of scenarios) {
    ran.push(...(await start(tools, suite, ['--url', url, '--scenario', scenario, ...suite.single])));
  }
  return ran;
}

async function start(tools: Tools, { version }: Suite, options: readonly string[]): Promise<Ran[]> {
  const results = mkdtempSync(join(tmpdir(), 'conformance-results-'));
  try {
    const child = spawn(tools.node, [tools.program(version), 'server', '-o', results, ...options], {
      cwd: results,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: LIMIT,
    });
    const ended = once(child, 'close');
    const folders = await readReport(child.stdout);
    await ended;
    return [...folders].map(([scenario, folder]) => ({ scenario, checks: readChecks(folder) }));
  } finally {
    rmSync(results, { recursive: true });
  }
}

/** From what the suite says while it runs: each scenario and the folder of its results, undefined where it gave none. */
async function readReport(output: NodeJS.ReadableStream): Promise<ReadonlyMap<string, string | undefined>> {
  const folders = new Map<string, string | undefined>();
  let current = '';
  for await (const line of createInterface({ input: output })) {
    const begun = /^Running client scenario '(.+)' against server/.exec(line)?.[1];
    const saved = /^Results saved to (.+)$/.exec(line)?.[1];
    if (begun !== undefined) current = begun;
    if (begun !== undefined || saved !== undefined) folders.set(current, saved);
  }
  return folders;
}

function readChecks(folder: string | undefined): Check[] | undefined {
  const file = folder === undefined ? undefined : join(folder, 'checks.json');
  return file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
