import type { Check, Deploy } from './check.ts';
import { at, FULL, NAME, only, render } from './helm-chart.ts';
import { same } from './helm-manifest-checks.ts';

/** What no schema asks for, and the chart promises. */
export const HELM_PROMISE_CHECKS: readonly Check[] = [
  { name: 'helm spreads pods, scales down slowly, opens metrics to monitoring', run: promises },
];

const MONITORING = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
/** The ports of the default values, and who may come: to the listener anybody, as long as nobody is named. */
const INGRESS = [
  { ports: [{ protocol: 'TCP', port: 8080 }] },
  { ports: [{ protocol: 'TCP', port: 9464 }], from: [MONITORING] },
];
const SPREAD = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'];
const METRICS = ['mcp_gateway_connections', 'cpu'];
/** One replica in five minutes at most, after ten quiet ones. */
const SCALE_DOWN = { stabilizationWindowSeconds: 600, policies: [{ type: 'Pods', value: 1, periodSeconds: 300 }] };

async function promises(deploy: Deploy): Promise<string> {
  const [usual, full] = [await render(deploy), await render(deploy, [FULL])];
  same(at(only(usual, 'NetworkPolicy', NAME), 'spec', 'policyTypes'), ['Ingress']);
  same(at(only(usual, 'NetworkPolicy', NAME), 'spec', 'ingress'), INGRESS);
  same(at(only(usual, 'PodDisruptionBudget', NAME), 'spec', 'maxUnavailable'), 1);
  same(at(only(usual, 'ServiceAccount', NAME), 'automountServiceAccountToken'), false);
  const constraints = at(only(usual, 'Deployment', NAME), 'spec', 'template', 'spec', 'topologySpreadConstraints');
  same(each(constraints, 'topologyKey'), SPREAD);
  const scaler = at(only(full, 'HorizontalPodAutoscaler', NAME), 'spec');
  same([at(scaler, 'metrics', 0, 'pods', 'metric', 'name'), at(scaler, 'metrics', 1, 'resource', 'name')], METRICS);
  same(at(scaler, 'behavior', 'scaleDown'), SCALE_DOWN);
  same('replicas' in Object(at(only(full, 'Deployment', NAME), 'spec')), false);
  return '5 objects';
}

function each(list: unknown, key: string): unknown[] {
  return Array.isArray(list) ? list.map((one) => at(one, key)) : [];
}
