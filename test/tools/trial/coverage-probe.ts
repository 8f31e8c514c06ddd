import { type Profiler, Session } from 'node:inspector';

/** Loaded into the gateway before it starts: keeps account of what of its code has run, and tells its parent when asked. */
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });

process.on('message', (asked) => {
  if (asked !== 'covered') return;
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    const scripts = error === null ? taken.result.filter(isOurs) : [];
    process.send?.({ covered: scripts });
  });
});

function isOurs({ url }: Profiler.ScriptCoverage): boolean {
  return /\/dist\/(protocol|session)\//.test(url);
}
