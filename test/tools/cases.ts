import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { type Case, patternOf, readCases, type Told, verdictOf } from './case-table.ts';

/**
 * `npm run cases`, from the package's root: runs the test of every case in test/cases.md and prints a line for each.
 * Exit code 1 when a test is missing or has not passed.
 */
function main(): number {
  const cases = readCases(readFileSync('test/cases.md', 'utf8'));
  const told = run(cases);
  const verdicts = cases.map((row) => ({ row, verdict: verdictOf(row, told) }));
  for (const { row, verdict } of verdicts) {
    console.log(`${verdict.padEnd(7)} ${row.id} ${row.report}: ${row.file} > ${row.title}`);
  }
  return verdicts.every(({ verdict }) => verdict === 'passed') ? 0 : 1;
}

/** Runs the files the cases name that exist, and returns what their tests said. Those of test/redis need a Redis. */
function run(cases: readonly Case[]): Told[] {
  const files = [...new Set(cases.map(({ file }) => file))].filter((file) => existsSync(file));
  const needsRedis = (file: string) => file.startsWith('test/redis/');
  return [
    ...runWith(
      'vitest.config.ts',
      cases,
      files.filter((file) => !needsRedis(file)),
    ),
    ...runWith('vitest.redis.config.ts', cases, files.filter(needsRedis)),
  ];
}

function runWith(config: string, cases: readonly Case[], files: readonly string[]): Told[] {
  if (files.length === 0) return [];
  const scratch = mkdtempSync(join(tmpdir(), 'cases-'));
  try {
    const report = join(scratch, 'report.json');
    const options = [
      '--config',
      config,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      '-t',
      patternOf(cases),
    ];
    const vitest = join('node_modules', 'vitest', 'vitest.mjs');
    spawnSync(process.execPath, [vitest, 'run', ...options, ...files], { stdio: ['ignore', 'inherit', 'inherit'] });
    return existsSync(report) ? read(readFileSync(report, 'utf8')) : [];
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

interface Report {
  testResults: { name: string; assertionResults: { title: string; fullName: string; status: string }[] }[];
}

function read(json: string): Told[] {
  const report: Report = JSON.parse(json);
  return report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ title, fullName, status }) => ({
      file: name.split(sep).join('/'),
      title,
      fullName,
      status,
    })),
  );
}

process.exitCode = main();
