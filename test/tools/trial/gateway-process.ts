import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import { handlesText } from './growth.ts';
import type { Held } from './probe.ts';
import { until } from './until.ts';

const PROBES = 'dist-tools/test/tools/trial';
/** Where readiness and gauges are waited for, in milliseconds. */
const PATIENCE = 30_000;
/** A connection that is kept alive would be counted among what the gateway holds. */
const CLOSING = { headers: { connection: 'close' } };

/** What must be as it was before once every socket is closed. */
const GAUGES = ['connections', 'inflight_requests', 'outbox_bytes', 'links', 'children'] as const;
export type Gauges = Readonly<Record<(typeof GAUGES)[number], number>>;

/** `serve` of the built gateway in a process of its own, with its log read. */
export class GatewayProcess {
  /** Lines nobody wants to see: of level error, not JSON, or of a peer's standard error. */
  readonly complaints: string[] = [];
  port = 0;
  tcpPort = 0;
  private opsUrl = '';
  private exit: string | undefined;
  private readonly child: ChildProcess;
  private readonly directory: string;

  private constructor(child: ChildProcess, directory: string) {
    this.child = child;
    this.directory = directory;
    child.once('exit', (code, signal) => {
      this.exit = signal ?? `exit code ${code}`;
    });
    if (child.stderr !== null) createInterface({ input: child.stderr }).on('line', (line) => this.logged(line));
  }

  static async start(config: object, { covered = false } = {}): Promise<GatewayProcess> {
    const directory = mkdtempSync(join(tmpdir(), 'trial-'));
    const file = join(directory, 'gateway.yaml');
    writeFileSync(file, stringify({ listen: { port: 0 }, ops: { port: 0 }, ...config }));
    const probes = covered ? ['probe', 'coverage-probe'] : ['probe'];
    const imports = probes.flatMap((name) => ['--import', pathToFileURL(resolve(PROBES, `${name}.js`)).href]);
    const child = fork('dist/main.js', ['serve', '--config', file], {
      execArgv: ['--expose-gc', ...imports],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const gateway = new GatewayProcess(child, directory);
    await gateway.ready();
    return gateway;
  }

  /** How it ended; undefined while it runs. */
  get ended(): string | undefined {
    return this.exit;
  }

  async gauges(): Promise<Gauges> {
    const text = await (await fetch(`${this.opsUrl}/metrics`, CLOSING)).text();
    const sum = (name: string) =>
      [...text.matchAll(new RegExp(`^mcp_gateway_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
        (total, [, value]) => total + Number(value),
        0,
      );
    return {
      connections: sum('connections'),
      inflight_requests: sum('inflight_requests'),
      outbox_bytes: sum('outbox_bytes'),
      links: sum('links'),
      children: sum('children'),
    };
  }

  /** The gauges once they are as in `before`, or as they are when they do not become so. */
  async settled(before: Gauges): Promise<Gauges> {
    let now = before;
    await until(
      async () => {
        now = await this.gauges();
        return GAUGES.every((name) => now[name] === before[name]);
      },
      PATIENCE,
      100,
    );
    return now;
  }

  async held(): Promise<Held> {
    return (await this.ask<{ held: Held }>('held')).held;
  }

  /** The same, once the handles are as in `before`, or as they are when they do not become so. */
  async heldLike(before: Held): Promise<Held> {
    let now = before;
    await until(
      async () => {
        now = await this.held();
        return handlesText(now) === handlesText(before);
      },
      PATIENCE / 2,
      500,
    );
    return now;
  }

  async covered(): Promise<Profiler.ScriptCoverage[]> {
    return (await this.ask<{ covered: Profiler.ScriptCoverage[] }>('covered')).covered;
  }

  /** Killed when it has not gone within so many milliseconds of being told to. */
  async stop(within = 120_000): Promise<void> {
    if (this.exit === undefined) {
      const gone = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      const late = setTimeout(() => this.child.kill('SIGKILL'), within);
      await gone;
      clearTimeout(late);
    }
    rmSync(this.directory, { recursive: true });
  }

  private async ask<T>(what: string): Promise<T> {
    const told = once(this.child, 'message');
    this.child.send(what);
    const [answer] = await told;
    return answer;
  }

  private logged(line: string): void {
    if (!line.startsWith('{')) return void this.complaints.push(line);
    const entry: Record<string, unknown> = JSON.parse(line);
    const event = String(entry.event);
    if (event === 'listening') this.listens(entry);
    if (event === 'tcp_listening') this.tcpPort = Number(entry.port);
    if (entry.level === 'error' || event === 'upstream_stderr') this.complaints.push(line);
  }

  private listens({ url, ops }: Readonly<Record<string, unknown>>): void {
    this.port = Number(new URL(String(url)).port);
    this.opsUrl = String(ops);
  }

  private async ready(): Promise<void> {
    const isReady = async () => {
      if (this.exit !== undefined) throw new Error(`the gateway ended: ${this.exit} ${this.complaints.join('\n')}`);
      return this.opsUrl !== '' && (await fetch(`${this.opsUrl}/readyz`, CLOSING)).status === 200;
    };
    if (!(await until(isReady, PATIENCE, 50))) throw new Error('the gateway does not become ready');
  }
}
