import { type Loaded, loadConfig } from '../config/load.ts';
import { compilePolicy } from '../policy/access.ts';

/** The configuration as every command judges it: the file, the environment and the policy compiled. Never throws. */
export function readConfiguration(file: string, environment: NodeJS.ProcessEnv): Loaded {
  const loaded = loadConfig(file, environment);
  if (!loaded.ok) return loaded;
  const compiled = compilePolicy(loaded.config.policy, loaded.config.auth.mode);
  return compiled.ok ? loaded : compiled;
}

/** Ends a command: one sentence a line on standard error, exit code 1 once nothing is left to do. */
export function fail(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
