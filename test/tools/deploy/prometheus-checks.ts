import { join } from 'node:path';
import { INSTRUMENTS, PREFIX } from '../../../src/observe/instruments.ts';
import { until } from '../trial/until.ts';
import type { Check, Deploy } from './check.ts';
import { expect, expectSoon } from './expect.ts';
import { startLoad } from './prometheus-load.ts';
import { type Prometheus, startPrometheus } from './prometheus-program.ts';
import { dashboardQueries, type Query } from './prometheus-queries.ts';
import { type Setting, startSetting } from './prometheus-setting.ts';

const RULES = 'deploy/prometheus/rules.yml';
/** Scrapes come a second apart, the first of them late; a rate needs two. */
const PATIENCE_MS = 60_000;

export const PROMETHEUS_CHECKS: readonly Check[] = [
  { name: 'prometheus rules and configuration are read', run: rulesAreRead },
  { name: 'prometheus alerts fire when they should, and only then', run: alertsFire },
  { name: 'prometheus scrapes two gateways: names, rules, dashboard', run: scrapesTwo },
];

async function rulesAreRead({ root, sh }: Deploy): Promise<string> {
  const { stdout } = await sh('promtool', ['check', 'rules', '--lint-fatal', join(root, RULES)]);
  await sh('promtool', ['check', 'config', '--syntax-only', join(root, 'deploy/prometheus/prometheus.yml')]);
  return /\d+ rules found/.exec(stdout)?.[0] ?? '';
}

async function alertsFire({ root, sh }: Deploy): Promise<undefined> {
  await sh('promtool', ['test', 'rules', join(root, 'deploy/prometheus/rules.test.yml')]);
}

async function scrapesTwo(deploy: Deploy): Promise<string> {
  const setting = await startSetting(deploy);
  const load = startLoad(setting);
  deploy.onEnd(() => load.stop());
  const prometheus = await startPrometheus(
    deploy,
    setting.replicas.map(({ ops }) => ops),
  );
  const queries = dashboardQueries(deploy.root);
  await targetsAreUp(prometheus, setting);
  const empty = await answered(prometheus, [...queries, ...everyInstrument()]);
  const rules = await rulesAreWell(prometheus);
  await namesAreGood(deploy, setting);
  await load.stop();
  expect(load.faults.length === 0, `the load went wrong: ${[...new Set(load.faults)].slice(0, 5).join('; ')}`);
  expect(
    empty.length === 0,
    `no series for\n${empty.map(({ panel, expression }) => `${panel}: ${expression}`).join('\n')}`,
  );
  return `2 targets, ${queries.length} queries, ${rules} rules, ${load.rounds} rounds`;
}

async function targetsAreUp(prometheus: Prometheus, { replicas }: Setting): Promise<void> {
  let last = '';
  const areUp = async () => {
    const targets = await prometheus.targets();
    last = JSON.stringify(targets.map(({ scrapeUrl, health, lastError }) => [scrapeUrl, health, lastError]));
    return targets.length === replicas.length && targets.every(({ health }) => health === 'up');
  };
  await expectSoon(areUp, PATIENCE_MS, () => `not every target is up: ${last}`);
}

/** The queries that have no series although there was time for it. Rejects at one that cannot be evaluated. */
async function answered(prometheus: Prometheus, queries: readonly Query[]): Promise<readonly Query[]> {
  let left = queries;
  await until(
    async () => {
      const counts = await Promise.all(left.map(({ expression }) => prometheus.series(expression)));
      left = left.filter((_, at) => counts[at] === 0);
      return left.length === 0;
    },
    PATIENCE_MS,
    1000,
  );
  return left;
}

/** The load makes happen whatever an instrument counts. */
function everyInstrument(): Query[] {
  return Object.entries(INSTRUMENTS).map(([name, { kind }]) => ({
    panel: 'an instrument',
    expression: `${PREFIX}${name}${kind === 'histogram' ? '_bucket' : ''}`,
  }));
}

/** The number of rules, all of which have been evaluated without an error. */
async function rulesAreWell(prometheus: Prometheus): Promise<number> {
  let last = await prometheus.rules();
  const areWell = async () => {
    last = await prometheus.rules();
    return last.length > 0 && last.every(({ health }) => health === 'ok');
  };
  const ill = () =>
    last.filter(({ health }) => health !== 'ok').map((rule) => `${rule.name}: ${rule.health} ${rule.lastError}`);
  await expectSoon(areWell, PATIENCE_MS, () => `rules are not well: ${ill().join('; ')}`);
  const down = last.find(({ name }) => name === 'MCPGatewayUpstreamDown');
  expect(down?.state === 'pending' || down?.state === 'firing', `an upstream is away, and its alert is ${down?.state}`);
  return last.length;
}

/** Our own names alone: some of prom-client's break the conventions. */
async function namesAreGood({ sh }: Deploy, { replicas }: Setting): Promise<void> {
  for (const { ops } of replicas) {
    const text = await (await fetch(`http://${ops}/metrics`)).text();
    const own = text.split('\n').filter((line) => /^(# (HELP|TYPE) )?mcp_gateway_/.test(line));
    await sh('promtool', ['check', 'metrics'], { input: `${own.join('\n')}\n` });
  }
}
