import { startApp } from '../app.ts';
import { createLog } from '../observe/log.ts';
import { fail, readConfiguration } from './configuration.ts';
import { exitTasks } from './exit-tasks.ts';
import { httpUrl, socketUrl } from './socket-url.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/** What stopping may take beyond the drain: close frames, children, the audit's last lines. In milliseconds. */
const STOPPING_MS = 10_000;

/** `serve`: runs until a signal. A configuration or port that cannot be used ends it with sentences and exit code 1. */
export async function serve(file: string): Promise<void> {
  const loaded = readConfiguration(file, process.env);
  if (!loaded.ok) return fail(loaded.problems);
  const { config, hash } = loaded;
  const log = createLog({ level: config.log.level });
  for (const warning of loaded.warnings) log.warn('config_warning', { warning });
  try {
    const atExit = exitTasks().keep;
    const app = await startApp({ config, configHash: hash, log, environment: process.env, atExit });
    const { notice, inFlight, waves } = config.timing.drain;
    stopOnSignal(app, notice + inFlight + waves + STOPPING_MS, log);
    log.info('listening', {
      url: socketUrl(app.address, config.listen),
      ops: httpUrl(app.ops),
      ...(app.admin === undefined ? {} : { admin: httpUrl(app.admin) }),
    });
  } catch (error) {
    fail([error instanceof Error ? error.message : String(error)]);
  }
}
