/** One row of test/cases.md: a reported fault and the test that holds the rule against it. */
export interface Case {
  readonly id: string;
  readonly report: string;
  readonly file: string;
  readonly title: string;
}

/** What one test of a vitest JSON report said. `file` is absolute. */
export interface Told {
  readonly file: string;
  readonly title: string;
  readonly fullName: string;
  readonly status: string;
}

export type Verdict = 'passed' | 'failed' | 'missing';

const ROW = /^\| (B\d{3}) \| ([\w.-]+\/[\w.-]+#\d+) \| [^|]+ \| [^|]+ \| `([^`|]+)` `([^`|]+)` \|$/;

/** Reads the rows. Throws on a table row it cannot read and on an id given twice: no case is dropped in silence. */
export function readCases(markdown: string): Case[] {
  const cases = markdown
    .split('\n')
    .filter((line) => line.startsWith('| B'))
    .map(readRow);
  const twice = cases.find(({ id }, at) => cases.findIndex((other) => other.id === id) !== at);
  if (twice !== undefined) throw new Error(`${twice.id} is listed twice`);
  if (cases.length === 0) throw new Error('no case is listed');
  return cases;
}

function readRow(line: string): Case {
  const [, id, report, file, title] = ROW.exec(line) ?? [];
  if (id === undefined || report === undefined || file === undefined || title === undefined) {
    throw new Error(`not a row of id, report, symptom, rule and test: ${line}`);
  }
  return { id, report, file, title };
}

/** A case passes when its file has a test of that exact title, with or without its `describe`s, and all such passed. */
export function verdictOf(row: Case, told: readonly Told[]): Verdict {
  const own = told.filter(
    ({ file, title, fullName }) => file.endsWith(`/${row.file}`) && (title === row.title || fullName === row.title),
  );
  if (own.length === 0) return 'missing';
  return own.every(({ status }) => status === 'passed') ? 'passed' : 'failed';
}

/** A pattern for vitest's `-t` that selects the titles of these cases; it may select more. */
export function patternOf(cases: readonly Case[]): string {
  return cases.map(({ title }) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
}
