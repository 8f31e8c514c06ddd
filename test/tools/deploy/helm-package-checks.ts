import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Check, Deploy } from './check.ts';
import { at, CHART } from './helm-chart.ts';
import { helmOf } from './helm-program.ts';

/** The chart as it is shipped. */
export const HELM_PACKAGE_CHECKS: readonly Check[] = [
  { name: 'helm package holds this version and the rules', run: packaged },
];

/** Copies in the chart, which can read no file outside it, and what they are copies of. */
const COPIES: readonly (readonly [string, string])[] = [
  ['files/rules.yml', 'deploy/prometheus/rules.yml'],
  ['files/dashboard.json', 'deploy/grafana/dashboards/mcp-ws-gateway.json'],
];

async function packaged(deploy: Deploy): Promise<string> {
  const helm = await helmOf(deploy);
  const said = await helm.run('package', CHART, '--destination', deploy.scratch);
  const file = said.trim().split('saved it to: ')[1];
  if (file === undefined) throw new Error(said);
  const content = async (path: string) => (await deploy.sh('tar', ['-xzOf', file, `mcp-ws-gateway/${path}`])).stdout;
  const [version, wanted] = [
    at(parse(await content('Chart.yaml')), 'appVersion'),
    at(JSON.parse(readFileSync(join(deploy.root, 'package.json'), 'utf8')), 'version'),
  ];
  if (version !== wanted) throw new Error(`appVersion is ${String(version)}, that of package.json ${String(wanted)}`);
  for (const [copy, original] of COPIES) {
    if ((await content(copy)) !== readFileSync(join(deploy.root, original), 'utf8'))
      throw new Error(`helm/${copy} is not ${original}: copy it anew`);
  }
  const { stdout } = await deploy.sh('tar', ['-tzf', file]);
  if (/\/ci\/|\.orig$/.test(stdout)) throw new Error(`it holds what .helmignore names:\n${stdout}`);
  return `${stdout.trim().split('\n').length} files, ${Math.ceil(readFileSync(file).length / 1024)} KiB`;
}
