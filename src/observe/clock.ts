import type { Cancel, Clock } from '../ports/clock.ts';

/** The longest delay one Node timer holds, 2^31 - 1 ms; a longer one would fire at once. */
const LONGEST = 2_147_483_647;

/** The machine's own time. Its timers never keep the process alive. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    elapsed: () => performance.now(),
    after: startTimer,
  };
}

/** A delay longer than one timer holds is waited for in parts. */
function startTimer(ms: number, task: () => void): Cancel {
  let left = ms;
  let timer = arm();

  function arm(): NodeJS.Timeout {
    const part = Math.min(left, LONGEST);
    left -= part;
    const next = setTimeout(() => {
      if (left > 0) timer = arm();
      else task();
    }, part);
    return next.unref();
  }

  return () => {
    // Of an unreferenced timer Node keeps the list its duration had until that is over, a day for a token that lasts one.
    timer.ref();
    clearTimeout(timer);
  };
}
