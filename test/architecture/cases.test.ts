import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { patternOf, readCases, type Told, verdictOf } from '../tools/case-table.ts';

const row = (id: string, test: string) => `| ${id} | owner/repo#12 | It breaks | It holds | ${test} |`;
const held = row('B001', '`test/a.test.ts` `it holds (always)`');

describe('reading test/cases.md', () => {
  test('gives id, report, file and title', () => {
    expect(readCases(`# Cases\n\n| id |\n|---|\n${held}\n`)).toEqual([
      { id: 'B001', report: 'owner/repo#12', file: 'test/a.test.ts', title: 'it holds (always)' },
    ]);
  });

  test.each([
    ['a row without a test', row('B001', '')],
    ['a row with a file alone', row('B001', '`test/a.test.ts`')],
    ['a row with a malformed id', row('B1', '`test/a.test.ts` `it holds`')],
    ['an id given twice', `${held}\n${held}`],
    ['no row at all', '# Cases'],
  ])('refuses %s', (_what, markdown) => {
    expect(() => readCases(markdown)).toThrow();
  });

  test('finds every case that is promised', () => {
    const cases = readCases(readFileSync(join(import.meta.dirname, '../cases.md'), 'utf8'));
    expect(cases.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        ...['B001', 'B014', 'B024', 'B032', 'B036', 'B041', 'B074'],
        ...['B076', 'B098', 'B104', 'B112', 'B132', 'B135', 'B171'],
      ]),
    );
  });
});

describe('a case', () => {
  const cases = readCases(held);
  const verdict = (...told: Partial<Told>[]) =>
    cases.map((it) =>
      verdictOf(
        it,
        told.map((one) => ({ ...passing, ...one })),
      ),
    );
  const passing: Told = {
    file: '/root/test/a.test.ts',
    title: 'it holds (always)',
    fullName: 'story it holds (always)',
    status: 'passed',
  };

  test('passes with its test', () => {
    expect(verdict({})).toEqual(['passed']);
    expect(verdict({ title: 'other', fullName: 'it holds (always)' })).toEqual(['passed']);
  });

  test.each(['failed', 'skipped', 'pending', 'todo'])('fails when a test of its title is %s', (status) => {
    expect(verdict({}, { status })).toEqual(['failed']);
  });

  test('is missing without a test of its exact title in its file', () => {
    expect(verdict()).toEqual(['missing']);
    expect(verdict({ title: 'it holds', fullName: 'story it holds' })).toEqual(['missing']);
    expect(verdict({ file: '/root/test/b.test.ts' })).toEqual(['missing']);
  });

  test('is selected by its title, taken literally', () => {
    expect(new RegExp(patternOf(cases)).test('story it holds (always)')).toBe(true);
    expect(new RegExp(patternOf(cases)).test('story it holds always')).toBe(false);
  });
});
