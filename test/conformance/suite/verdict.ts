import type { ExpectedFailure } from './expected-failures.ts';
import type { Suite } from './suites.ts';

/** One check of a scenario, as the suite reports it. */
export interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string | undefined;
}

/** A scenario the suite began, and its checks unless it could not be run. */
export interface Ran {
  readonly scenario: string;
  readonly checks: readonly Check[] | undefined;
}

export interface Verdict {
  readonly scenario: string;
  readonly verdict: 'passed' | 'expected' | 'failed' | 'uncounted';
  /** Why, a sentence each; empty for `passed`. */
  readonly causes: readonly string[];
}

export interface Wanted extends Pick<Suite, 'uncounted'> {
  /** How many scenarios must have run. */
  readonly least: number;
  /** Whether that is the whole set: then an expected failure without its scenario is stale. */
  readonly whole?: boolean;
}

/** Judges a run: each scenario, what is missing of the set, and what is stale in the list. */
export function judgeRun(
  ran: readonly Ran[],
  expected: readonly ExpectedFailure[],
  { uncounted, least, whole = false }: Wanted,
): Verdict[] {
  const verdicts = ran.map(({ scenario, checks }): Verdict => {
    if (uncounted === undefined || !scenario.startsWith(uncounted.prefix)) return judge(scenario, checks, expected);
    return { scenario: `${uncounted.prefix}*`, verdict: 'uncounted', causes: [uncounted.reason] };
  });
  const gone = expected.filter((entry) => whole && !ran.some(({ scenario }) => scenario === entry.scenario));
  const short = ran.length < least ? [`${ran.length} scenarios ran instead of ${least}`] : [];
  return [
    ...verdicts,
    ...gone.map(({ scenario }) => failed(scenario, ['stale, there is no such scenario'])),
    ...short.map((cause) => failed('the set', [cause])),
  ];
}

function failed(scenario: string, causes: readonly string[]): Verdict {
  return { scenario, verdict: 'failed', causes };
}

/**
 * Judges one scenario. `checks` is undefined when the suite could not run it. A warning counts as a failure, as it does
 * in the suite's own comparison with expected failures; a scenario in which nothing succeeded has shown nothing.
 */
export function judge(
  scenario: string,
  checks: readonly Check[] | undefined,
  expected: readonly ExpectedFailure[],
): Verdict {
  if (checks === undefined) return failed(scenario, ['the suite could not run it']);
  const mine = expected.filter((entry) => entry.scenario === scenario);
  const listed = new Set(mine.flatMap((entry) => entry.checks));
  const failing = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  const causes = [
    ...failing.filter(({ id }) => !listed.has(id)).map(({ id, errorMessage }) => `${id}: ${errorMessage ?? 'failed'}`),
    ...[...listed].filter((id) => !failing.some((check) => check.id === id)).map((id) => `${id}: stale, it passes`),
  ];
  if (causes.length > 0) return failed(scenario, causes);
  if (mine.length > 0) return { scenario, verdict: 'expected', causes: mine.map(({ reason }) => reason) };
  const shown = checks.some(({ status }) => status === 'SUCCESS');
  return shown ? { scenario, verdict: 'passed', causes: [] } : failed(scenario, ['no check succeeded']);
}
