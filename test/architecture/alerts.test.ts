import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { INSTRUMENTS, PREFIX } from '../../src/observe/instruments.ts';

const text = z.string().min(1);
const alert = z.strictObject({
  alert: text.regex(/^MCPGateway[A-Z]\w*$/),
  expr: text,
  for: text,
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({ summary: text, description: text, runbook: text }),
});
const recording = z.strictObject({ record: text, expr: text });
const rulesFile = z.object({ groups: z.array(z.object({ rules: z.array(z.union([alert, recording])) })) });
const testsFile = z.object({
  tests: z.array(
    z.object({ alert_rule_test: z.array(z.object({ alertname: text, exp_alerts: z.array(z.unknown()) })) }),
  ),
});

const source = readFileSync('deploy/prometheus/rules.yml', 'utf8');
const rules = rulesFile.parse(parse(source)).groups.flatMap((group) => group.rules);
const alerts = rules.filter((rule) => 'alert' in rule);
const names = alerts.map((rule) => rule.alert);
const cases = testsFile
  .parse(parse(readFileSync('deploy/prometheus/rules.test.yml', 'utf8')))
  .tests.flatMap((each) => each.alert_rule_test);

test('there is an alert for each thing an operator acts on', () => {
  expect(names.map((name) => name.replace('MCPGateway', ''))).toEqual([
    'UpstreamDown',
    'ConnectionsRefused',
    'TokensRefused',
    'SlowReaders',
    'ErrorRatio',
    'UpstreamSlow',
    'Overhead',
    'BusDown',
    'BusGaps',
    'EventLoopLag',
    'ConnectionsNearLimit',
    'ChildrenAtCap',
    'ReconnectStorm',
    'CatalogueShrank',
    'ConfigDiffers',
    'CertificateEnding',
    'KeysStale',
  ]);
});

test('each alert has a case in which it fires and one in which it does not, and no case is of another', () => {
  const fired = new Set(cases.filter((each) => each.exp_alerts.length > 0).map((each) => each.alertname));
  const silent = new Set(cases.filter((each) => each.exp_alerts.length === 0).map((each) => each.alertname));
  expect([...fired].sort()).toEqual([...names].sort());
  expect([...silent].sort()).toEqual([...names].sort());
});

test('each alert has its section in the operations page, in the order of the rules, and its runbook points there', () => {
  const page = readFileSync('docs/operations.md', 'utf8');
  const [, section = ''] = page.split('\n## Alerts\n');
  const [own = ''] = section.split('\n## ');
  const headings = [...own.matchAll(/^### (\w+)\n\n\S/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(names);
  expect(alerts.map((rule) => rule.annotations.runbook)).toEqual(
    names.map((name) => `docs/operations.md#${name.toLowerCase()}`),
  );
});

/** Names of ours in an expression, as instruments: a histogram has three series. */
function instrumentsIn(expression: string): string[] {
  const used = [...expression.matchAll(/(?<![:\w])mcp_gateway_(\w+)/g)].map(([, name = '']) => name);
  return used.map((name) => (name in INSTRUMENTS ? name : name.replace(/_(bucket|sum|count)$/, '')));
}

test('rules ask for instruments and recorded series there are', () => {
  const used = new Set(rules.flatMap((rule) => instrumentsIn(rule.expr)));
  expect(used.size).toBeGreaterThan(15);
  expect([...used].filter((name) => !(name in INSTRUMENTS))).toEqual([]);
  const recorded = new Set(rules.flatMap((rule) => ('record' in rule ? [rule.record] : [])));
  const asked = new Set(rules.flatMap((rule) => rule.expr.match(/\w+:\w+:\w+/g) ?? []));
  expect([...asked].sort()).toEqual([...recorded].sort());
  expect([...recorded].filter((name) => !name.includes(`:${PREFIX}`))).toEqual([]);
});
