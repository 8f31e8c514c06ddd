import closeWithGrace from 'close-with-grace';
import { startApp } from '../app.ts';
import { loadConfig } from '../config/load.ts';
import { createLog } from '../observe/log.ts';

/** What stopping may take beyond the calls in flight: close frames, children, the audit's last lines. In milliseconds. */
const STOPPING_MS = 10_000;

/** `serve`: runs until a signal. A configuration or port that cannot be used ends it with sentences and exit code 1. */
export async function serve(file: string): Promise<void> {
  const loaded = loadConfig(file, process.env);
  if (!loaded.ok) return fail(loaded.problems);
  const { config, hash } = loaded;
  const log = createLog({ level: config.log.level });
  for (const warning of loaded.warnings) log.warn('config_warning', { warning });
  const exiting = exitTasks();
  try {
    const app = await startApp({ config, configHash: hash, log, environment: process.env, atExit: exiting.keep });
    const { address, ops } = app;
    const url = `ws://${bracketed(address.host)}:${address.port}${config.listen.path}`;
    log.info('listening', { url, ops: `http://${bracketed(ops.host)}:${ops.port}` });
    closeWithGrace({ delay: config.timing.drain.inFlight + STOPPING_MS, logger: false }, async ({ signal, err }) => {
      if (err === undefined) log.info('stopping', { signal });
      else log.error('stopping', { err });
      await app.close();
      log.info('stopped');
    });
  } catch (error) {
    fail([error instanceof Error ? error.message : String(error)]);
  }
}

function fail(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

/** Children that are still there when the process exits for whatever reason are killed then. */
function exitTasks(): { keep: (task: () => void) => () => void } {
  const tasks = new Set<() => void>();
  process.on('exit', () => {
    for (const task of tasks) task();
  });
  return {
    keep: (task) => {
      tasks.add(task);
      return () => tasks.delete(task);
    },
  };
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
