/**
 * Counts a vitest JSON report: `node tally.mjs REPORT`. Names every test that did not pass; the last line is
 * `PASSED FAILED`. Skipped and todo tests, files that failed to load and a report without a test count as failed.
 */
import { readFileSync } from 'node:fs';

/** @typedef {{ fullName: string, status: string }} Test */
/** @typedef {{ name: string, status: string, message?: string, assertionResults: Test[] }} TestFile */

/** @param {TestFile} file */
function verdicts(file) {
  const tests = file.assertionResults.map(({ fullName, status }) => ({ what: `${file.name}: ${fullName}`, status }));
  const told = tests.some(({ status }) => status !== 'passed');
  const whole = { what: `${file.name}: ${file.message || 'no test'}`, status: 'failed' };
  return tests.length === 0 || (file.status !== 'passed' && !told) ? [...tests, whole] : tests;
}

/** @param {string} path */
function tally(path) {
  /** @type {{ testResults: TestFile[] }} */
  const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
  const all = testResults.flatMap(verdicts);
  const bad = all.filter(({ status }) => status !== 'passed');
  for (const { what, status } of bad) console.log(`${status}: ${what}`);
  return { passed: all.length - bad.length, failed: all.length === 0 ? 1 : bad.length };
}

try {
  const { passed, failed } = tally(process.argv[2] ?? '');
  console.log(`${passed} ${failed}`);
} catch (error) {
  console.log(`no usable test report: ${error instanceof Error ? error.message : error}`);
  console.log('0 1');
}
