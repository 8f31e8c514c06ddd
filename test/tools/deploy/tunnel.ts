import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../trial/until.ts';
import type { Deploy } from './check.ts';
import type { Engine } from './engine.ts';

const READY_MS = 10_000;
const DOOR = fileURLToPath(new URL('door.js', import.meta.url));

/** Ports of this machine's loopback that lead into an engine's network namespace. */
export class Tunnel {
  private readonly deploy: Deploy;
  private readonly socket: string;
  private readonly ports = new Map<string, Promise<number>>();

  private constructor(deploy: Deploy, socket: string) {
    this.deploy = deploy;
    this.socket = socket;
  }

  static async into(deploy: Deploy, engine: Engine): Promise<Tunnel> {
    const socket = join(deploy.scratch, `door-${engine.pid}`);
    rmSync(socket, { force: true });
    const door = spawn('nsenter', ['--net', '--target', String(engine.pid), '--', process.execPath, DOOR, socket], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    deploy.onEnd(() => void door.kill('SIGKILL'));
    door.once('error', () => {}); // The socket that does not appear says it.
    if (!(await until(() => existsSync(socket), READY_MS, 20))) throw new Error('no way into the network namespace');
    return new Tunnel(deploy, socket);
  }

  /** A port of 127.0.0.1 here for a port, or `address:port`, in there. */
  port(target: string): Promise<number> {
    const port = this.ports.get(target) ?? this.open(target);
    this.ports.set(target, port);
    return port;
  }

  private async open(target: string): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (outside) => {
      const inside = createConnection({ path: this.socket, allowHalfOpen: true });
      inside.write(`${target}\n`);
      outside.pipe(inside).pipe(outside);
      for (const [one, other] of [
        [outside, inside],
        [inside, outside],
      ] as const) {
        one.on('error', () => other.destroy());
        one.once('close', () => other.destroy());
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
    this.deploy.onEnd(() => void server.close());
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }
}
