import type { Check, Deploy } from './check.ts';
import { at, FULL, NAME, only, render } from './helm-chart.ts';

/** What becomes of values: those that are wrong are refused, those of the gateway's configuration move the rest of the chart. */
export const HELM_VALUE_CHECKS: readonly Check[] = [
  { name: 'helm template refuses bad values', run: refusals },
  { name: 'helm grace period is the sum of the drain', run: gracePeriods },
  { name: 'helm follows the ports, path and TLS of the gateway', run: follows },
];

const BUS = { redis: `\${file:/run/secrets/bus/url}` };
const secret = (name: string, mountPath: string) => ({ name, secretName: 'some', mountPath });

/** Values, and a part of the sentence they are refused with. */
const BAD: readonly (readonly [object, string])[] = [
  [{ replicas: 3 }, "additional properties 'replicas' not allowed"],
  [{ image: { tagg: '1' } }, "additional properties 'tagg' not allowed"],
  [{ replicaCount: 'two' }, 'got string, want integer'],
  [{ config: { listen: { port: '8080' } } }, "at '/config/listen/port'"],
  [{ config: { listen: { port: 0 } } }, "at '/config/listen/port'"],
  [{ topologySpread: { zone: 'Always' } }, "at '/topologySpread/zone'"],
  [{ secrets: [{ name: 'a', secretName: 'b', value: 'c' }] }, "additional properties 'value' not allowed"],
  [{ env: [{ name: 'A', valueFrom: {} }] }, "additional properties 'valueFrom' not allowed"],
  [{ env: [{ name: 'MCP_GW__OPS__PORT', value: '1' }] }, 'MCP_GW__OPS__PORT: set it under config'],
  [{ replicaCount: 2 }, '2 replicas need config.bus'],
  [{ autoscaling: { enabled: true } }, '10 replicas need config.bus'],
  [{ autoscaling: { enabled: true, maxReplicas: 1 } }, 'autoscaling.maxReplicas must be at least'],
  [
    { config: { bus: BUS }, autoscaling: { enabled: true, cpu: null, connections: null } },
    'autoscaling needs connections or cpu',
  ],
  [{ config: { listen: { host: '127.0.0.1' } } }, 'config.listen.host must be an address that others'],
  [{ config: { ops: null } }, 'config.ops.host must be an address that others'],
  [{ config: { timing: { drain: { waves: '10 s' } } } }, 'config.timing.drain.waves must be a whole number and one of'],
  [{ config: { timing: { drain: { inFlight: 30 } } } }, 'config.timing.drain.inFlight must be a whole number and one'],
  [{ config: { timing: { drain: { notice: `\${NOTICE}` } } } }, 'config.timing.drain.notice must be a whole number'],
  [{ config: { seal: { keys: ['0123456789abcdef0123456789abcdef'] } } }, 'config.seal.keys[0] is a secret'],
  [{ config: { bus: { redis: 'redis://:hunter2@redis:6379' } } }, 'config.bus.redis holds a password'],
  [{ secrets: [secret('a', '/s/a'), secret('a', '/s/b')] }, 'two are called a'],
  [{ secrets: [secret('a', '/ss'), secret('b', '/ss')] }, 'b is mounted at /ss'],
  [{ secrets: [secret('a', '/tmp')] }, 'a is mounted at /tmp'],
  [{ httpRoute: { enabled: true } }, 'httpRoute.parentRefs must name the Gateway'],
  [{ ingress: { enabled: true }, config: { auth: { resource: `\${URL}` } } }, 'ingress.hosts is empty'],
];

async function refusals(deploy: Deploy): Promise<string> {
  const wrong: string[] = [];
  for (const [values, sentence] of BAD) {
    const said = await render(deploy, [values]).then(
      () => 'nothing',
      (error: Error) => error.message,
    );
    if (!said.includes(sentence) || said.includes('hunter2'))
      wrong.push(`${JSON.stringify(values)} should be refused with «${sentence}» and is with «${said}»`);
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return `${BAD.length} refused, each in a sentence`;
}

/** `timing.drain`, and the seconds it comes to. */
const GRACE: readonly (readonly [object | null, number])[] = [
  [{}, 60],
  [null, 50],
  [{ notice: '0s', inFlight: '0s', waves: '0s' }, 10],
  [{ notice: '1ms', inFlight: '0s', waves: '0s' }, 11],
  [{ notice: '500ms', inFlight: '500ms', waves: '0s' }, 11],
  [{ notice: '1500ms', inFlight: '2m', waves: '020s' }, 152],
  [{ notice: '10s', inFlight: '1h', waves: '90s' }, 3710],
  [{ notice: '10s', inFlight: '1d', waves: '1m' }, 86480],
];

async function gracePeriods(deploy: Deploy): Promise<string> {
  for (const [drain, wanted] of GRACE) {
    const manifests = await render(deploy, [{ config: { timing: { drain } } }]);
    const found = at(only(manifests, 'Deployment', NAME), 'spec', 'template', 'spec', 'terminationGracePeriodSeconds');
    if (found !== wanted) throw new Error(`${JSON.stringify(drain)}: ${String(found)} s where ${wanted} s belong`);
  }
  return `${GRACE.length} drains`;
}

async function follows(deploy: Deploy): Promise<string> {
  const tls = { certFile: '/run/secrets/tls/tls.crt', keyFile: '/run/secrets/tls/tls.key' };
  const manifests = await render(deploy, [FULL, { config: { listen: { tls } } }]);
  const texts: readonly (readonly [string, string, string])[] = [
    ['Service', NAME, '{"name":"ws","port":8443,"targetPort":"ws","appProtocol":"kubernetes.io/wss"}'],
    ['Service', `${NAME}-metrics`, '{"name":"metrics","port":9500,"targetPort":"ops"}'],
    ['Service', `${NAME}-admin`, '{"name":"admin","port":9600,"targetPort":"admin"}'],
    ['Deployment', NAME, '[{"name":"ws","containerPort":8443},{"name":"ops","containerPort":9500},{"name":"admin"'],
    ['Ingress', NAME, '"nginx.ingress.kubernetes.io/backend-protocol":"HTTPS"'],
    ['Ingress', NAME, '{"host":"gateway.example.com","http":{"paths":[{"path":"/gateway","pathType":"Prefix"'],
    ['HTTPRoute', NAME, '"hostnames":["gateway.example.com"]'],
    ['HTTPRoute', NAME, '{"path":{"type":"PathPrefix","value":"/gateway"}}'],
    ['NetworkPolicy', NAME, '{"ports":[{"protocol":"TCP","port":9500}],"from":[{"namespaceSelector"'],
    ['Pod', `${NAME}-test`, '"value":"https://gw-mcp-ws-gateway.mcp:8443/gateway"'],
  ];
  for (const [kind, name, text] of texts) {
    const found = JSON.stringify(only(manifests, kind, name));
    if (!found.includes(text)) throw new Error(`${kind} ${name} lacks ${text}\n${found}`);
  }
  return `${texts.length} places`;
}
