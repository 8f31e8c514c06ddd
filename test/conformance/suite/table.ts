import type { Kind } from './places.ts';
import type { Suite } from './suites.ts';
import type { Verdict } from './verdict.ts';

/** A suite against one kind of upstream. */
export interface Row {
  readonly suite: Suite;
  readonly kind: Kind;
  readonly verdicts: readonly Verdict[];
}

const HEAD = ['suite', 'revision', 'upstream', 'passed', 'expected failures', 'failed'];

/** The table, then each expected failure with its reason once, then each failure. */
export function tableText(rows: readonly Row[]): string {
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const told = (wanted: Verdict['verdict']) => causes(rows, wanted);
  return [
    ...lines,
    ...section('Expected failures', told('expected')),
    ...section('Not counted', told('uncounted')),
    ...section('Failed', failures(rows)),
  ].join('\n');
}

function cellsOf({ suite, kind, verdicts }: Row): string[] {
  const start = [suite.version, suite.revision, `${kind}, SDK ${suite.sdk}`];
  const count = (wanted: Verdict['verdict']) => String(verdicts.filter(({ verdict }) => verdict === wanted).length);
  const counted = verdicts.filter(({ verdict }) => verdict !== 'uncounted').length;
  return [...start, `${count('passed')}/${counted}`, count('expected'), count('failed')];
}

function causes(rows: readonly Row[], wanted: Verdict['verdict']): string[] {
  const lines = rows.flatMap(({ verdicts }) =>
    verdicts
      .filter(({ verdict }) => verdict === wanted)
      .flatMap((told) => told.causes.map((cause) => `${told.scenario}: ${cause}`)),
  );
  return [...new Set(lines)];
}

function failures(rows: readonly Row[]): string[] {
  return rows.flatMap((row) =>
    causes([row], 'failed').map(
      (line) => `${row.suite.version} ${row.suite.revision} ${row.kind}, SDK ${row.suite.sdk}, ${line}`,
    ),
  );
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}
