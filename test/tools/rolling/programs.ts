import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { until } from '../trial/until.ts';

/** Milliseconds for a program to answer, and to go when it is told to. */
const STARTS = 10_000;
const GOES = 5000;

/** A program that a replica needs beside it, in the foreground. */
export interface Program {
  stop(): Promise<void>;
}

export interface Backend {
  readonly name: string;
  readonly port: number;
  readonly opsPort: number;
}

export interface Balancer extends Program {
  readonly url: string;
  /** Each replica's standing, as HAProxy sees it (`UP`), and how many connections it has. */
  standing(): Promise<ReadonlyMap<string, { readonly status: string; readonly sessions: number }>>;
}

/** HAProxy before the replicas, which it asks for /readyz. Rejects with one sentence. */
export async function startBalancer(backends: readonly Backend[], scratch: string): Promise<Balancer> {
  const [port, statsPort] = [await freePort(), await freePort()];
  const file = join(scratch, 'haproxy.cfg');
  writeFileSync(file, configuration(port, statsPort, backends));
  const program = start('haproxy', ['-db', '-f', file], scratch);
  const standing = async () => standingsOf(await (await fetch(`http://127.0.0.1:${statsPort}/stats;csv`)).text());
  await answering('haproxy', program, async () => (await standing()).size > 0);
  return { url: `ws://127.0.0.1:${port}/mcp`, standing, stop: () => end(program.child) };
}

/** A Redis server that keeps nothing. Rejects with one sentence. */
export async function startRedis(scratch: string): Promise<Program & { readonly url: string }> {
  const port = await freePort();
  const options = { bind: '127.0.0.1', port: String(port), save: '', appendonly: 'no', dir: scratch };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const program = start('redis-server', args, scratch);
  await answering('redis-server', program, () => program.said().includes('Ready to accept connections'));
  return { url: `redis://127.0.0.1:${port}`, stop: () => end(program.child) };
}

/** Sockets stay for an hour of silence; the gateway's own pings come every 25 s. */
function configuration(port: number, statsPort: number, backends: readonly Backend[]): string {
  const servers = backends.map(
    ({ name, port: own, opsPort }) =>
      `  server ${name} 127.0.0.1:${own} check port ${opsPort} inter 300ms fall 2 rise 2`,
  );
  return `global
  maxconn 4000
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout http-request 10s
  timeout tunnel 1h
frontend mcp
  bind 127.0.0.1:${port}
  option forwardfor
  default_backend gateways
frontend stats
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /stats
backend gateways
  balance leastconn
  option httpchk GET /readyz
  http-check expect status 200
${servers.join('\n')}
`;
}

/** Of the rows of servers: name, status and current sessions. */
function standingsOf(csv: string) {
  const [titles = '', ...lines] = csv.trim().split('\n');
  const names = titles.replace(/^# /, '').split(',');
  const rows = lines.map((line) => new Map(line.split(',').map((cell, at) => [names[at] ?? '', cell])));
  const servers = rows.filter((row) => row.get('pxname') === 'gateways' && row.get('svname') !== 'BACKEND');
  return new Map(
    servers.map((row) => [
      row.get('svname') ?? '',
      { status: row.get('status') ?? '', sessions: Number(row.get('scur')) },
    ]),
  );
}

interface Started {
  readonly child: ChildProcess;
  /** What it has said, the end of it. */
  said(): string;
}

function start(command: string, args: readonly string[], cwd: string): Started {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const heard = (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-4000);
  };
  child.stdout.on('data', heard);
  child.stderr.on('data', heard);
  child.on('error', (error) => heard(Buffer.from(error.message)));
  return { child, said: () => said };
}

async function answering(
  name: string,
  { child, said }: Started,
  answers: () => boolean | Promise<boolean>,
): Promise<void> {
  const isGone = () => child.pid === undefined || child.exitCode !== null;
  const isReady = await until(
    async () => isGone() || (await Promise.resolve(answers()).catch(() => false)),
    STARTS,
    50,
  );
  if (isReady && !isGone()) return;
  await end(child);
  throw new Error(child.pid === undefined ? `${name} is not on PATH` : `${name} does not start: ${said().trim()}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), GOES);
  await gone;
  clearTimeout(late);
}
