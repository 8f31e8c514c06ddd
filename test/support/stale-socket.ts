import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Leaves a Unix socket at `path` as a process does that is killed while it listens. */
export async function leaveStaleSocket(path: string): Promise<void> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script], { stdio: 'ignore' }), 'close');
}
