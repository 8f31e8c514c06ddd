import { type ChildProcess, spawn } from 'node:child_process';
import type { Output, ShellOptions } from './check.ts';

const TIMEOUT_MS = 120_000;
/** Characters of a failing program's output that are shown. */
const SHOWN = 2_000;

/** Which package has the program, for the sentence that says what is missing. */
const PACKAGES: Readonly<Record<string, string>> = {
  dockerd: 'docker.io',
  docker: 'docker.io',
  'docker-compose': 'docker-compose',
  haproxy: 'haproxy',
  ip: 'iproute2',
  iptables: 'iptables',
  nsenter: 'util-linux',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'redis-cli': 'redis-tools',
  'redis-server': 'redis-server',
  setpriv: 'util-linux',
  'tini-static': 'tini',
  wget: 'wget',
};

/** The program groups that are running, so that none outlives the checks. */
const running = new Set<ChildProcess>();

/** See `Deploy.sh`. Each program leads a group of its own, which ends as a whole when its time is over. */
export function runCommand(command: string, args: readonly string[], options: ShellOptions = {}): Promise<Output> {
  const { cwd, env, input, timeoutMs = TIMEOUT_MS } = options;
  const child = spawn(command, [...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    detached: true,
    stdio: 'pipe',
  });
  running.add(child);
  const out: Output = { stdout: '', stderr: '' };
  const texts = { ...out };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text;
  });
  // A program that ends before it has read its input is judged by its exit code.
  child.stdin.on('error', () => {}).end(input);
  return new Promise((resolve, reject) => {
    const over = setTimeout(() => {
      endGroup(child);
      reject(new Error(`${command} ${args[0] ?? ''} took longer than ${timeoutMs / 1000} s`));
    }, timeoutMs);
    child.once('error', (error) => reject(missing(command, error)));
    child.once('close', (code, signal) => {
      clearTimeout(over);
      running.delete(child);
      if (code === 0) resolve(texts);
      else reject(new Error(`${command} ${args.join(' ')}: ${signal ?? `exit code ${code}`}\n${tail(texts)}`));
    });
  });
}

/** Ends what is still running; their promises reject. */
export function endCommands(): void {
  for (const child of running) endGroup(child);
}

/** The sentence for a program that is not there, or the error as it is. */
export function missing(command: string, error: Error): Error {
  if (!('code' in error) || error.code !== 'ENOENT') return error;
  const name = PACKAGES[command];
  const how = name === undefined ? 'install it' : `Debian has it in the package ${name}`;
  return new Error(`${command} is not on PATH: ${how}`);
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

function tail({ stdout, stderr }: Output): string {
  const text = `${stdout}${stderr}`.trim();
  return text.length > SHOWN ? `…${text.slice(-SHOWN)}` : text;
}
