import type { Check, Deploy } from './check.ts';
import { at, CHART, FULL, flagsOf, type Manifest, NAME, only, render, type Values } from './helm-chart.ts';
import { helmOf } from './helm-program.ts';
import { schemaFaults } from './helm-schemas.ts';

/** The chart for each of its values files: what Helm, the schemas of Kubernetes and a hardened cluster say to it. */
export const HELM_MANIFEST_CHECKS: readonly Check[] = [
  { name: 'helm lint --strict, default and full values', run: lint },
  { name: 'helm template, default values by the schemas', run: (deploy) => valid(deploy, [], DEFAULT_KINDS) },
  { name: 'helm template, full values by the schemas', run: (deploy) => valid(deploy, [FULL], FULL_KINDS) },
  { name: 'helm schemas refuse what is planted', run: planted },
  { name: 'helm pod is what a restricted cluster takes', run: restricted },
  { name: 'helm holds no secret', run: secretless },
];

const DEFAULT_KINDS =
  'ConfigMap Deployment NetworkPolicy NetworkPolicy Pod PodDisruptionBudget Service Service ServiceAccount';
const FULL_KINDS =
  'ConfigMap ConfigMap Deployment HTTPRoute HorizontalPodAutoscaler Ingress NetworkPolicy NetworkPolicy Pod PodDisruptionBudget PrometheusRule Service Service Service ServiceAccount ServiceMonitor';

async function lint(deploy: Deploy): Promise<string> {
  const helm = await helmOf(deploy);
  await helm.run('lint', '--strict', CHART);
  await helm.run('lint', '--strict', CHART, ...flagsOf(deploy, [FULL]));
  return helm.version;
}

async function valid(deploy: Deploy, values: Values, kinds: string): Promise<string> {
  const manifests = await render(deploy, values);
  const found = manifests.map(({ kind }) => kind).sort();
  if (found.join(' ') !== kinds) throw new Error(`rendered ${found.join(' ')}`);
  const faults = await schemaFaults(deploy, manifests);
  const lines = manifests.flatMap(({ kind }, index) => (faults[index] ?? []).map((fault) => `${kind}: ${fault}`));
  if (lines.length > 0) throw new Error(lines.join('\n'));
  return `${manifests.length} objects`;
}

interface Plant {
  readonly kind: string;
  readonly name: string;
  readonly path: readonly (string | number)[];
  readonly key: string;
  /** Undefined takes the key away. */
  readonly value: unknown;
}

const CONTAINER = ['spec', 'template', 'spec', 'containers', 0];
/** A typo for each kind of operator and depth, a wrong type, a missing key, a text of the wrong shape. */
const PLANTS: readonly Plant[] = [
  { kind: 'Deployment', name: NAME, path: CONTAINER, key: 'livenesProbe', value: {} },
  { kind: 'Deployment', name: NAME, path: ['spec', 'template', 'spec'], key: 'enableServiceLink', value: false },
  { kind: 'Deployment', name: NAME, path: [...CONTAINER, 'ports', 0], key: 'containerPort', value: 'eighty' },
  { kind: 'Service', name: NAME, path: ['spec'], key: 'typo', value: 'ClusterIP' },
  { kind: 'NetworkPolicy', name: NAME, path: ['spec', 'ingress', 0, 'ports', 0], key: 'prt', value: 1 },
  { kind: 'HorizontalPodAutoscaler', name: NAME, path: ['spec'], key: 'maxReplicas', value: undefined },
  { kind: 'PodDisruptionBudget', name: NAME, path: ['spec'], key: 'unhealthyPodEvictionPolicy', value: 'Always' },
  { kind: 'Ingress', name: NAME, path: ['spec', 'rules', 0, 'http', 'paths', 0], key: 'pathTyp', value: 'Exact' },
  { kind: 'HTTPRoute', name: NAME, path: ['spec', 'rules', 0, 'timeouts'], key: 'requst', value: '0s' },
  { kind: 'HTTPRoute', name: NAME, path: ['spec', 'rules', 0, 'timeouts'], key: 'request', value: 'never' },
  { kind: 'ServiceMonitor', name: NAME, path: ['spec', 'endpoints', 0], key: 'intervall', value: '15s' },
  { kind: 'PrometheusRule', name: NAME, path: ['spec'], key: 'group', value: [] },
];

async function planted(deploy: Deploy): Promise<string> {
  const manifests = await render(deploy, [FULL]);
  const faults = await schemaFaults(
    deploy,
    PLANTS.map((plant) => withPlant(manifests, plant)),
  );
  const missed = PLANTS.filter((_, index) => faults[index]?.length === 0);
  if (missed.length > 0) throw new Error(missed.map(({ kind, key }) => `not seen: ${kind} ${key}`).join('\n'));
  return `${PLANTS.length} planted, ${PLANTS.length} refused`;
}

function withPlant(manifests: readonly Manifest[], { kind, name, path, key, value }: Plant): Manifest {
  const copy = structuredClone(only(manifests, kind, name));
  const place = at(copy, ...path);
  if (place === null || typeof place !== 'object') throw new Error(`${kind} has no ${path.join('.')}`);
  if (value === undefined) Reflect.deleteProperty(place, key);
  else Reflect.set(place, key, value);
  return copy;
}

/** What Pod Security Admission asks for at its level `restricted`, and what the chart promises beside it. */
async function restricted(deploy: Deploy): Promise<string> {
  const manifests = await render(deploy);
  const deployment = only(manifests, 'Deployment', NAME);
  const pods = [at(deployment, 'spec', 'template', 'spec'), at(only(manifests, 'Pod', `${NAME}-test`), 'spec')];
  for (const pod of pods) {
    same(at(pod, 'automountServiceAccountToken'), false);
    same(at(pod, 'enableServiceLinks'), false);
    same(at(pod, 'securityContext', 'runAsNonRoot'), true);
    same(at(pod, 'securityContext', 'runAsUser'), 1000);
    same(at(pod, 'securityContext', 'seccompProfile'), { type: 'RuntimeDefault' });
    const own = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
    same(at(pod, 'containers', 0, 'securityContext'), own);
  }
  same(at(deployment, 'spec', 'strategy', 'rollingUpdate'), { maxUnavailable: 0, maxSurge: 1 });
  const probe = (name: string) => at(deployment, ...CONTAINER, name, 'httpGet');
  same(probe('startupProbe'), { path: '/healthz', port: 'ops' });
  same(probe('livenessProbe'), { path: '/healthz', port: 'ops' });
  same(probe('readinessProbe'), { path: '/readyz', port: 'ops' });
  return '2 pods';
}

/** Fails where they differ; keys in their order. */
export function same(found: unknown, wanted: unknown): void {
  const [text, right] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (text !== right) throw new Error(`${text} where ${right} belongs`);
}

/** Secrets are named and mounted; none is made. */
async function secretless(deploy: Deploy): Promise<string> {
  const manifests = [...(await render(deploy)), ...(await render(deploy, [FULL]))];
  const made = manifests.filter(({ kind }) => kind === 'Secret');
  if (made.length > 0) throw new Error(`Secrets are made: ${made.map(({ metadata }) => metadata.name).join(', ')}`);
  const deployment = JSON.stringify(manifests.filter(({ kind }) => kind === 'Deployment'));
  if (deployment.includes('secretKeyRef')) throw new Error('a secret is in the environment');
  const mounted = deployment.match(/"secretName":"[^"]*"/g) ?? [];
  same(mounted.length, 4);
  return `${mounted.length} mounted as files`;
}
