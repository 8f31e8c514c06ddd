import { parseArgs } from 'node:util';
import { EXPECTED_FAILURES, MOST_EXPECTED } from './expected-failures.ts';
import { installTools, type Tools } from './install.ts';
import { KINDS, type Kind, openPlace } from './places.ts';
import { runSuite } from './run-suite.ts';
import { SUITES, type Suite } from './suites.ts';
import { type Row, tableText } from './table.ts';
import { judgeRun, type Verdict } from './verdict.ts';

/**
 * `npm run conformance`, from the package's root: the official suites against the gateway before each kind of upstream.
 * Prints one table; exit code 1 unless everything passed or is expected to fail.
 * `--scenario NAME` (again for more), `--suite VERSION`, `--revision REVISION`, `--upstream KIND` and `--sdk 1|2` run a
 * part of it.
 */
async function main(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  if (EXPECTED_FAILURES.length > MOST_EXPECTED) throw new Error(`more than ${MOST_EXPECTED} expected failures`);
  const { suites, kinds, scenarios } = chosen();
  const tools = installTools();
  const rows = (await Promise.all(kinds.map((kind) => rowsOf(tools, kind, suites, scenarios)))).flat();
  console.log(tableText(suites.flatMap((suite) => rows.filter((row) => row.suite === suite))));
  const good = rows.every(({ verdicts }) => verdicts.every(({ verdict }) => verdict !== 'failed'));
  return good && rows.length > 0 ? 0 : 1;
}

/** What the arguments leave of everything. */
function chosen() {
  const { values } = parseArgs({
    options: {
      scenario: { type: 'string', multiple: true, default: [] },
      suite: { type: 'string' },
      revision: { type: 'string' },
      upstream: { type: 'string' },
      sdk: { type: 'string' },
    },
  });
  const { scenario, suite, revision, upstream, sdk } = values;
  const suites = SUITES.filter((each) => each.version === (suite ?? each.version))
    .filter((each) => each.revision === (revision ?? each.revision))
    .filter((each) => String(each.sdk) === (sdk ?? String(each.sdk)));
  return { suites, kinds: KINDS.filter((kind) => kind === (upstream ?? kind)), scenarios: scenario };
}

async function rowsOf(
  tools: Tools,
  kind: Kind,
  suites: readonly Suite[],
  scenarios: readonly string[],
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const suite of suites) {
    rows.push({ suite, kind, verdicts: await run(tools, kind, suite, scenarios) });
  }
  return rows;
}

async function run(tools: Tools, kind: Kind, suite: Suite, scenarios: readonly string[]): Promise<Verdict[]> {
  const place = await openPlace(kind, suite);
  try {
    const ran = await runSuite(tools, suite, place.url, scenarios);
    const expected = EXPECTED_FAILURES.filter(({ revision }) => revision === suite.revision);
    const whole = scenarios.length === 0;
    return judgeRun(ran, expected, { ...suite, whole, least: whole ? suite.scenarios : scenarios.length });
  } finally {
    await place.close();
  }
}

process.exitCode = await main();
