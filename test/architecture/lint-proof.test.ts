import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const BIOME = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');

/** The bad files lie outside the linted tree under a `.txt` name; each is linted as `src/` code under the project's own biome.json. */
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'lint-proof-')));

afterAll(() => rmSync(scratch, { recursive: true }));

test.each([
  ['noFloatingPromises', 'lint/nursery/noFloatingPromises'],
  ['noMisusedPromises', 'lint/nursery/noMisusedPromises'],
  ['useAwaitThenable', 'lint/nursery/useAwaitThenable'],
  ['noExplicitAny', 'lint/suspicious/noExplicitAny'],
  ['noNonNullAssertion', 'lint/style/noNonNullAssertion'],
  ['noConsole', 'lint/suspicious/noConsole'],
])('lint fails on %s', (fixture, category) => {
  const { status, errors } = lint(fixture);
  expect(errors).toEqual([category]);
  expect(status).toBe(1);
});

test('lint passes a clean file', () => {
  expect(lint('clean')).toEqual({ status: 0, errors: [] });
});

function lint(fixture: string): { status: number | null; errors: string[] } {
  const project = join(scratch, fixture);
  mkdirSync(join(project, 'src'), { recursive: true });
  cpSync(join(ROOT, 'biome.json'), join(project, 'biome.json'));
  cpSync(join(ROOT, 'test/fixtures/lint', `${fixture}.ts.txt`), join(project, 'src', `${fixture}.ts`));
  const run = spawnSync(process.execPath, [BIOME, 'lint', '--reporter=json', 'src'], {
    cwd: project,
    encoding: 'utf8',
  });
  return { status: run.status, errors: errorsOf(JSON.parse(run.stdout)) };
}

function errorsOf(report: { diagnostics: { severity: string; category: string }[] }): string[] {
  return report.diagnostics.filter(({ severity }) => severity === 'error').map(({ category }) => category);
}
