import { setTimeout as after } from 'node:timers/promises';

/** True as soon as `done` says so; false when it has not within so many milliseconds. */
export async function until(done: () => boolean | Promise<boolean>, within: number, every = 5): Promise<boolean> {
  const end = performance.now() + within;
  while (!(await done())) {
    if (performance.now() > end) return false;
    await after(every);
  }
  return true;
}
