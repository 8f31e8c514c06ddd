import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

/** What a person does in one terminal: commands one after the other, variables kept; and in another, servers that run on. */
export class Terminal {
  private directory: string;
  private readonly variables = new Map<string, string>();
  private server: { readonly pid: number; readonly closed: Promise<unknown> } | undefined;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Runs a command to its end; the lines of both its outputs. `export NAME=…` and a last `cd DIR` hold for later ones. */
  async run(command: string): Promise<string[]> {
    const name = /^export (\w+)=/.exec(command)?.[1];
    const value = join(this.directory, 'value');
    const script = name === undefined ? command : `${command}; printf %s "$${name}" > value`;
    const child = spawn('sh', ['-c', `{ ${script}\n} 2>&1`], {
      cwd: this.directory,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const output = await text(child.stdout);
    if (name !== undefined) this.variables.set(name, readFileSync(value, 'utf8'));
    this.directory = resolve(this.directory, /(?:^|&& )cd (\S+)$/.exec(command)?.[1] ?? '');
    return linesOf(output);
  }

  /** Starts a server, ending the one before; returns the way to read what it has written so far. */
  async serve(command: string): Promise<() => string[]> {
    await this.close();
    const path = join(this.directory, 'server.log');
    const output = openSync(path, 'w');
    const child = spawn('sh', ['-c', command], {
      cwd: this.directory,
      env: this.environment,
      stdio: ['ignore', output, output],
      detached: true,
    });
    closeSync(output);
    if (child.pid === undefined) throw new Error('the server was not started');
    this.server = { pid: child.pid, closed: once(child, 'close') };
    return () => linesOf(readFileSync(path, 'utf8'));
  }

  /** Ctrl-C: the whole group, as a terminal sends it. */
  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server === undefined) return;
    process.kill(-server.pid, 'SIGINT');
    await server.closed;
  }

  private get environment(): NodeJS.ProcessEnv {
    return { ...process.env, ...Object.fromEntries(this.variables) };
  }
}

function linesOf(output: string): string[] {
  return output.split('\n').slice(0, -1);
}
