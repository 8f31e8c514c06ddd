import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const TALLY = join(import.meta.dirname, '../../.ci/tally.mjs');
const scratch = mkdtempSync(join(tmpdir(), 'tally-'));

afterAll(() => rmSync(scratch, { recursive: true }));

test('each test counts once', () => {
  expect(tally([file('passed', ['passed', 'passed'])])).toBe('2 0');
});

test('failed, skipped, pending and todo tests count as failed', () => {
  expect(tally([file('failed', ['passed', 'failed', 'skipped', 'pending', 'todo'])])).toBe('1 4');
});

test('a file that failed to load counts as one failure', () => {
  expect(tally([file('failed', []), file('passed', ['passed'])])).toBe('1 1');
});

test('a file that failed beside its passing tests counts as one failure', () => {
  expect(tally([file('failed', ['passed'])])).toBe('1 1');
});

test('a report without a test counts as one failure', () => {
  expect(tally([])).toBe('0 1');
});

test('a missing or broken report counts as one failure', () => {
  expect(lastLine(join(scratch, 'missing.json'))).toBe('0 1');
  expect(lastLine(written('{"testResults": ['))).toBe('0 1');
});

function file(status: string, tests: string[]): object {
  return { name: 'a.test.ts', status, message: '', assertionResults: tests.map((s) => ({ fullName: s, status: s })) };
}

function tally(testResults: object[]): string | undefined {
  return lastLine(written(JSON.stringify({ testResults })));
}

function written(report: string): string {
  const path = join(scratch, 'report.json');
  writeFileSync(path, report);
  return path;
}

function lastLine(path: string): string | undefined {
  return spawnSync(process.execPath, [TALLY, path], { encoding: 'utf8' }).stdout.trimEnd().split('\n').at(-1);
}
