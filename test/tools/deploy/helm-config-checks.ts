import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { type Loaded, loadConfigText } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import type { Check, Deploy } from './check.ts';
import { at, CHART, FULL, type Manifest, NAME, only, render, type Values } from './helm-chart.ts';

/** What the chart writes for the gateway, read by the gateway's own loader. */
export const HELM_CONFIG_CHECKS: readonly Check[] = [
  { name: 'helm config is one the gateway loads', run: loads },
  { name: 'helm config with a wrong key is refused by the gateway', run: refuses },
];

/** The configuration the chart renders, as text. */
export async function renderedConfig(deploy: Deploy, values: Values): Promise<string> {
  const manifests = await render(deploy, values);
  return String(at(only(manifests, 'ConfigMap', NAME), 'data', 'gateway.yaml'));
}

async function loads(deploy: Deploy): Promise<string> {
  const found = [];
  for (const values of [[], [FULL], [pageValues(deploy)]]) {
    const loaded = load(deploy, await renderedConfig(deploy, values));
    if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
    found.push(loaded.config);
    agrees(loaded.config, only(await render(deploy, values), 'Deployment', NAME));
  }
  const full = found[1];
  if (full?.limits.connections !== 1_000_000) throw new Error(`limits.connections is ${full?.limits.connections}`);
  if (full.limits.requestsPerSecond !== null) throw new Error('limits.requestsPerSecond: null was lost on the way');
  if (full.bus?.redis !== 'rediss://redis.example.com:6379')
    throw new Error('config.bus.redis is not that of the file');
  return 'default, full, and those of helm/README.md';
}

/** What the chart takes for the gateway's defaults is what the gateway takes. */
function agrees({ listen, ops, timing }: Config, deployment: Manifest): void {
  const { notice, inFlight, waves } = timing.drain;
  const pod = at(deployment, 'spec', 'template', 'spec');
  const ports = [0, 1].map((index) => at(pod, 'containers', 0, 'ports', index, 'containerPort'));
  const found = [...ports, at(pod, 'terminationGracePeriodSeconds')].join(' ');
  const wanted = [listen.port, ops.port, Math.ceil((notice + inFlight + waves) / 1000) + 10].join(' ');
  if (found !== wanted) throw new Error(`ports and grace period are ${found}, those of the gateway ${wanted}`);
}

/** The values the chart's page shows. */
function pageValues(deploy: Deploy): object {
  const page = readFileSync(join(deploy.root, CHART, 'README.md'), 'utf8');
  const values: unknown = parse(/^```yaml\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '');
  if (values === null || typeof values !== 'object') throw new Error('helm/README.md shows no values');
  return values;
}

const WRONG = 'unknown key `limits.conections`; did you mean `limits.connections`?';

async function refuses(deploy: Deploy): Promise<string> {
  const loaded = load(deploy, await renderedConfig(deploy, [{ config: { limits: { conections: 5 } } }]));
  const sentence = loaded.ok ? 'nothing' : loaded.problems.join('\n');
  if (sentence !== WRONG) throw new Error(`it says: ${sentence}`);
  return sentence;
}

/** What the Secrets of the full values hold, by the path each is mounted at. */
const FILES: ReadonlyMap<string, string> = new Map([
  ['/run/secrets/bus/url', 'rediss://redis.example.com:6379\n'],
  ['/run/secrets/seal/current', '0123456789abcdef0123456789abcdef\n'],
  ['/run/secrets/seal/previous', 'fedcba9876543210fedcba9876543210\n'],
  ['/run/secrets/admin/token', 'a-token-of-32-bytes-for-the-admin\n'],
  ['/etc/search/token', 'search\n'],
]);

/** The files stand in the scratch folder, and the text names them there. */
function load(deploy: Deploy, text: string): Loaded {
  const root = mkdtempSync(join(deploy.scratch, 'pod-'));
  let moved = text;
  for (const [path, content] of FILES) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), content);
    moved = moved.replaceAll(path, join(root, path));
  }
  return loadConfigText(moved, join(root, 'gateway.yaml'), {});
}
