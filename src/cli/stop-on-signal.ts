import { systemClock } from '../observe/clock.ts';
import type { Log } from '../ports/log.ts';

export interface Stoppable {
  close(): Promise<void>;
  /** What `close` waits for by choice, it waits for no longer. */
  force(): void;
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;
const ERRORS = ['uncaughtException', 'unhandledRejection'] as const;

/** What a forced stop may take: sockets a second, children two. In milliseconds. */
const FORCED_MS = 4000;

/**
 * Ends the process when what runs is closed, or as it is after `limit` milliseconds. The first signal asks for it, a second
 * forces it: exit code 0 either way. So does an error nobody caught, with exit code 1; at another the process ends at once.
 */
export function stopOnSignal(running: Stoppable, limit: number, log: Log): void {
  let code: number | undefined;
  const endWithin = (ms: number) =>
    systemClock().after(ms, () => {
      log.error('stopping_overdue');
      process.exit(code);
    });
  const stop = async (exitCode: number) => {
    code = exitCode;
    endWithin(limit);
    await running.close().catch(failed);
    log.info('stopped');
    process.exit(exitCode);
  };
  const failed = (err: unknown) => {
    log.error('stopping', { err });
    if (code === undefined) void stop(1);
    else process.exit(1);
  };
  const signalled = (signal: NodeJS.Signals) => {
    if (code === undefined) {
      log.info('stopping', { signal });
      void stop(0);
    } else {
      log.warn('stopping_forced', { signal });
      running.force();
      endWithin(FORCED_MS);
    }
  };
  for (const signal of SIGNALS) process.on(signal, signalled);
  for (const event of ERRORS) process.on(event, failed);
}
