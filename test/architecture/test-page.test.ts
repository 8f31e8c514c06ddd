import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tableUnder } from '../support/markdown-table.ts';

const page = readFileSync('test/README.md', 'utf8');
const FILE = /`([\w/-]+\.test\.ts)`/g;

test('test/README.md says for each of eleven matters which files hold it', () => {
  const rows = tableUnder(page, '| | holds | in `test/` |');
  expect([...new Set(rows.map(([number]) => Number(number)))]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(rows.filter(([, , files = '']) => !files.includes('.test.ts'))).toEqual([]);
});

test('and for each of seven matters of replicas and deployment which files or commands do', () => {
  const rows = tableUnder(page, '| | holds | files and commands |');
  expect([...new Set(rows.map(([number]) => Number(number)))]).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(rows.filter(([, , named = '']) => !/\.test\.ts|npm run /.test(named))).toEqual([]);
});

test('and names no file that is not there', () => {
  const named = [...page.matchAll(FILE)].flatMap(([, file]) => file ?? []);
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((file) => !existsSync(join('test', file)))).toEqual([]);
});
