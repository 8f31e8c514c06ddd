import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { until } from '../trial/until.ts';
import type { Deploy, Output, ShellOptions } from './check.ts';
import { missing } from './command.ts';

const READY_MS = 30_000;
/** Within which an engine ends by itself. */
const STOP_MS = 15_000;

/**
 * `host`: containers share this machine's network, which is what a build needs to reach the registry. `own`: the engine
 * and its bridges are in a network namespace of their own, without a way out, so that no port or address is anyone else's.
 */
export type Network = 'host' | 'own';

/** A Docker engine of these checks alone, with its own state and socket. Both kinds share their images, so only one runs at a time. */
export class Engine {
  readonly network: Network;
  private readonly deploy: Deploy;
  private readonly child: ChildProcess;
  private readonly client: string;

  private constructor(deploy: Deploy, network: Network, child: ChildProcess, client: string) {
    this.deploy = deploy;
    this.network = network;
    this.child = child;
    this.client = client;
  }

  static async start(deploy: Deploy, network: Network): Promise<Engine> {
    const client = await clientOfEngine(deploy);
    const home = join(deploy.scratch, 'docker');
    mkdirSync(home, { recursive: true });
    const log = join(home, `${network}.log`);
    const file = openSync(log, 'a');
    const child = spawn('setpriv', [...ENDS_WITH_US, ...namespaces(network), ...daemon(home, network)], {
      detached: true,
      stdio: ['ignore', file, file],
    });
    closeSync(file);
    const failed = once(child, 'error').then(([error]) => Promise.reject(missing('setpriv', error)));
    const engine = new Engine(deploy, network, child, client);
    deploy.onEnd(() => engine.stop());
    const isReady = async () => child.exitCode !== null || (await engine.answers());
    if (!(await Promise.race([until(isReady, READY_MS, 100), failed])) || child.exitCode !== null)
      throw new Error(`dockerd does not start:\n${readFileSync(log, 'utf8').slice(-2000)}`);
    return engine;
  }

  /** The engine's process, whose network namespace is that of its containers' ports. */
  get pid(): number {
    const { pid = 0 } = this.child;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  docker(args: readonly string[], options: ShellOptions = {}): Promise<Output> {
    return this.deploy.sh(this.client, args, { ...options, env: { ...this.environment, ...options.env } });
  }

  compose(args: readonly string[], options: ShellOptions = {}): Promise<Output> {
    const env = { ...this.environment, COMPOSE_PROJECT_NAME: 'deploy', ...options.env };
    return this.deploy.sh('docker-compose', args, { cwd: this.deploy.root, ...options, env });
  }

  /**
   * Ends all containers and the engine. It is the first process of a namespace, so that none it has started outlives it, and
   * its mounts are its own, so that none is left.
   */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    const gone = once(this.child, 'exit');
    await this.endContainers();
    if (this.tell('SIGTERM') && (await until(() => !this.isRunning, STOP_MS, 50))) return;
    this.child.kill('SIGKILL');
    await gone;
  }

  /** False where it has no process: 0 would be this program's own group. */
  private tell(signal: NodeJS.Signals): boolean {
    try {
      return this.pid > 0 && process.kill(this.pid, signal);
    } catch {
      return false;
    }
  }

  /** Those that start meanwhile are ended with the engine. */
  private async endContainers(): Promise<void> {
    const { stdout } = await this.docker(['ps', '--all', '--quiet']).catch(() => ({ stdout: '' }));
    const containers = stdout.split('\n').filter((id) => id !== '');
    if (containers.length > 0)
      await this.docker(['rm', '--force', ...containers], { timeoutMs: STOP_MS }).catch(() => {});
  }

  private get environment(): Readonly<Record<string, string>> {
    return {
      DOCKER_HOST: `unix://${this.deploy.scratch}/docker/socket`,
      DOCKER_BUILDKIT: '1',
      COMPOSE_HTTP_TIMEOUT: '120',
    };
  }

  private answers(): Promise<boolean> {
    return this.docker(['version']).then(
      () => true,
      () => false,
    );
  }
}

/** Also when this program is killed and can end nothing itself. */
const ENDS_WITH_US = ['--pdeathsig', 'KILL', '--', 'unshare'];

function namespaces(network: Network): string[] {
  const net = network === 'own' ? ['--net'] : [];
  return ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child', ...net, '--', 'sh', '-c', UP[network], 'sh'];
}

const UP: Readonly<Record<Network, string>> = {
  host: 'exec dockerd "$@"',
  own: 'ip link set lo up && exec dockerd "$@"',
};

function daemon(home: string, network: Network): string[] {
  const [data, state, pid, socket] = ['data', 'state', 'pid', 'socket'].map((name) => join(home, name));
  const bridge = network === 'own' ? [] : ['--iptables=false', '--ip6tables=false', '--bridge=none'];
  return [
    ...[`--data-root=${data}`, `--exec-root=${state}`, `--pidfile=${pid}`, `--host=unix://${socket}`],
    ...['--storage-driver=overlay2', '--default-ulimit=nofile=1024:4096', ...bridge],
  ];
}

/** The client that is of the engine's own version: another one on PATH may not be able to build with it. */
async function clientOfEngine(deploy: Deploy): Promise<string> {
  const wanted = versionIn((await deploy.sh('dockerd', ['--version'])).stdout);
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const client of folders.map((folder) => join(folder, 'docker'))) {
    const told = await deploy.sh(client, ['--version']).catch(() => ({ stdout: '' }));
    if (versionIn(told.stdout) === wanted) return client;
  }
  throw new Error(`no docker on PATH is of dockerd's version ${wanted}: Debian has both in the package docker.io`);
}

function versionIn(text: string): string {
  return /\d+\.\d+\.\d+/.exec(text)?.[0] ?? 'unknown';
}
