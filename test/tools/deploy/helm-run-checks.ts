import type { Check, Deploy } from './check.ts';
import { at, FULL, type Manifest, NAME, notes, only, render } from './helm-chart.ts';
import { type Running, startGateway } from './helm-gateway.ts';

/** What the chart says and does in a cluster, done here before a gateway that runs on the configuration it renders. */
export const HELM_RUN_CHECKS: readonly Check[] = [
  { name: 'helm test pod, run against a gateway', run: testPod },
  { name: 'helm NOTES, followed against what is rendered', run: followNotes },
];

async function testPod(deploy: Deploy): Promise<string> {
  const gateway = await startGateway(deploy);
  const pod = only(await render(deploy, [gateway.values]), 'Pod', `${NAME}-test`);
  const container = at(pod, 'spec', 'containers', 0);
  const [program, args] = [at(container, 'command', 0), at(container, 'args')];
  if (program !== 'node' || !Array.isArray(args)) throw new Error('the pod does not run node');
  const env = Object.fromEntries(here(at(container, 'env')));
  const { stdout } = await deploy.sh(process.execPath, args.map(String), { env, timeoutMs: 90_000 });
  if (stdout !== 'ok  ready: 200\nok  upgrade without a token: 401\n') throw new Error(stdout);
  return stdout.trim().replace('\n', ', ');
}

/** The variables of the pod, with the Services' names turned into this machine. */
function here(env: unknown): [string, string][] {
  if (!Array.isArray(env)) throw new Error('the pod has no environment');
  return env.map((one) => [String(at(one, 'name')), String(at(one, 'value')).replace(SERVICE, '//127.0.0.1:')]);
}

const SERVICE = /\/\/gw-mcp-ws-gateway(-metrics)?\.mcp:/;

/** What the commands of the NOTES print that are run here, by how they begin. */
const ANSWERS: readonly (readonly [string, RegExp])[] = [
  ['curl -sk ', /^401$/],
  ['curl -s http://127.0.0.1:PORT/readyz', /^\{"status":"ready"/],
  ['curl -s http://127.0.0.1:PORT/metrics', /^mcp_gateway_connections 0$/],
];

async function followNotes(deploy: Deploy): Promise<string> {
  const gateway = await startGateway(deploy);
  const text = await notes(deploy, [gateway.values]);
  await follow(deploy, commandsOf(text), gateway);
  named(commandsOf(text), await render(deploy, [gateway.values]));
  named(commandsOf(await notes(deploy, [FULL])), await render(deploy, [FULL]));
  return `\n${text}`;
}

function commandsOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => /^(kubectl|helm|curl) /.test(line));
}

async function follow(deploy: Deploy, commands: readonly string[], { opsPort }: Running): Promise<void> {
  for (const [beginning, answer] of ANSWERS) {
    const command = commands.find((one) => one.startsWith(beginning.replace('PORT', String(opsPort))));
    if (command === undefined) throw new Error(`the NOTES have no ${beginning}`);
    const { stdout } = await deploy.sh('sh', ['-c', command], { timeoutMs: 10_000 });
    if (!answer.test(stdout.trim())) throw new Error(`${command}\nprinted ${stdout}`);
  }
}

/** Every object a command names is rendered, and every port it forwards is the object's. */
function named(commands: readonly string[], manifests: readonly Manifest[]): void {
  const kinds = new Map([
    ['deployment', 'Deployment'],
    ['service', 'Service'],
    ['hpa', 'HorizontalPodAutoscaler'],
  ]);
  let seen = 0;
  for (const command of commands) {
    const [, word, name] = / (deployment|service|hpa)[/ ](\S+)/.exec(command) ?? [];
    const kind = kinds.get(word ?? '');
    if (kind === undefined || name === undefined) continue;
    const manifest = JSON.stringify(only(manifests, kind, name));
    const port = / (\d+):\d+$/.exec(command)?.[1];
    if (port !== undefined && !new RegExp(`"(port|containerPort)":${port}\\b`).test(manifest))
      throw new Error(`${kind} ${name} has no port ${port}`);
    seen += 1;
  }
  if (seen < 4) throw new Error(`the NOTES name ${seen} objects`);
  const secrets = commands.flatMap((command) => / get secret (\S+)$/.exec(command)?.[1] ?? []);
  const pods = JSON.stringify(manifests.filter(({ kind }) => kind === 'Deployment'));
  const unmounted = secrets.filter((name) => !pods.includes(`"secretName":"${name}"`));
  if (unmounted.length > 0) throw new Error(`the NOTES ask for ${unmounted.join(', ')}, which nothing mounts`);
}
