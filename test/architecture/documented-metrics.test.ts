import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { INSTRUMENTS } from '../../src/observe/instruments.ts';

const page = new URL('../../docs/metrics.md', import.meta.url);

/** The rows of the page's first table, cells without their code marks. */
function documented(): string[][] {
  const lines = readFileSync(page, 'utf8').split('\n');
  const from = lines.indexOf('|---|---|---|---|') + 1;
  const rows = lines.slice(from, lines.indexOf('', from));
  return rows.map((row) =>
    row
      .replaceAll('`', '')
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

it('documents every instrument of the code, and no other', () => {
  const coded = Object.entries(INSTRUMENTS).map(([name, row]) => [name, row.kind, row.labels.join(', '), row.help]);
  expect(coded.length).toBe(39);
  expect(documented()).toEqual(coded);
});
