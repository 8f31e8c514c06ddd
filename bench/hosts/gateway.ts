import { startApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/observe/log.ts';
import { reportTo } from './report.ts';

/** The gateway as `serve` runs it, in a process that can be asked for its CPU time and memory. Its argument is a configuration file. */
const loaded = loadConfig(process.argv[2] ?? '', process.env);
if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
const app = await startApp({
  config: loaded.config,
  configHash: loaded.hash,
  log: createLog({ level: 'info' }),
  environment: process.env,
  atExit: (task) => {
    process.on('exit', task);
    return () => process.off('exit', task);
  },
});
reportTo(`ws://127.0.0.1:${app.address.port}/mcp`);
