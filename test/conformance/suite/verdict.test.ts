import { expect, test } from 'vitest';
import { EXPECTED_FAILURES, type ExpectedFailure, MOST_EXPECTED } from './expected-failures.ts';
import { judge, judgeRun } from './verdict.ts';

const good = { id: 'good', status: 'SUCCESS' };
const bad = { id: 'bad', status: 'FAILURE', errorMessage: 'wrong' };
const expected: ExpectedFailure = { scenario: 's', revision: '2025-11-25', checks: ['bad'], reason: 'a clause' };

test('a scenario passes when a check succeeded and none failed', () => {
  expect(judge('s', [good, { id: 'info', status: 'INFO' }], [])).toEqual({
    scenario: 's',
    verdict: 'passed',
    causes: [],
  });
});

test.each(['FAILURE', 'WARNING'])('a check that ends in %s fails the scenario', (status) => {
  expect(judge('s', [good, { ...bad, status }], [])).toEqual({
    scenario: 's',
    verdict: 'failed',
    causes: ['bad: wrong'],
  });
});

test('a scenario in which nothing succeeded has not passed', () => {
  expect(judge('s', [{ id: 'info', status: 'SKIPPED' }], []).causes).toEqual(['no check succeeded']);
});

test('a scenario that could not be run has failed, expected or not', () => {
  expect(judge('s', undefined, [expected])).toMatchObject({ verdict: 'failed' });
});

test('a listed check that fails is expected, with its reason', () => {
  expect(judge('s', [good, bad], [expected])).toEqual({ scenario: 's', verdict: 'expected', causes: ['a clause'] });
});

test('a listed check that passes is stale, and fails', () => {
  expect(judge('s', [{ ...bad, status: 'SUCCESS' }], [expected])).toEqual({
    scenario: 's',
    verdict: 'failed',
    causes: ['bad: stale, it passes'],
  });
});

test('another failing check of a listed scenario fails', () => {
  const causes = ['other: failed'];
  expect(judge('s', [bad, { id: 'other', status: 'FAILURE' }], [expected])).toEqual({
    scenario: 's',
    verdict: 'failed',
    causes,
  });
});

test('a run that is short of scenarios fails', () => {
  const causes = ['1 scenarios ran instead of 2'];
  expect(judgeRun([{ scenario: 't', checks: [good] }], [], { least: 2 })).toEqual([
    { scenario: 't', verdict: 'passed', causes: [] },
    { scenario: 'the set', verdict: 'failed', causes },
  ]);
});

test('a listed scenario that the whole set does not have is stale; a part of the set says nothing about it', () => {
  const ran = [{ scenario: 't', checks: [good] }];
  const causes = ['stale, there is no such scenario'];
  expect(judgeRun(ran, [expected], { least: 1, whole: true })[1]).toEqual({ scenario: 's', verdict: 'failed', causes });
  expect(judgeRun(ran, [expected], { least: 1 })).toHaveLength(1);
});

test('what the set does not score is named once and not counted', () => {
  const uncounted = { prefix: 'tasks-', reason: 'an extension' };
  expect(judgeRun([{ scenario: 'tasks-x', checks: [bad] }], [], { least: 1, uncounted })).toEqual([
    { scenario: 'tasks-*', verdict: 'uncounted', causes: ['an extension'] },
  ]);
});

test('the list stays short, and every entry cites a clause or an issue', () => {
  expect(EXPECTED_FAILURES.length).toBeLessThanOrEqual(MOST_EXPECTED);
  const cited = EXPECTED_FAILURES.filter(({ reason }) => /^MCP \d{4}-\d\d-\d\d, |^conformance#\d+/.test(reason));
  expect(cited).toEqual(EXPECTED_FAILURES);
});
