import type { Cancel, Clock } from '../../src/ports/clock.ts';

interface Task {
  readonly due: number;
  readonly run: () => void;
}

/** Time that passes only by `advance`, which runs what falls due, in order of time, at its own time. */
export function fakeClock(start = Date.UTC(2030, 0, 1)): Clock & { advance(ms: number): void } {
  const tasks = new Set<Task>();
  let elapsed = 0;
  const after = (ms: number, run: () => void): Cancel => {
    const task = { due: elapsed + ms, run };
    tasks.add(task);
    return () => tasks.delete(task);
  };
  const advance = (ms: number): void => {
    const end = elapsed + ms;
    for (let next = earliest(tasks, end); next !== undefined; next = earliest(tasks, end)) {
      tasks.delete(next);
      elapsed = Math.max(elapsed, next.due);
      next.run();
    }
    elapsed = end;
  };
  return { now: () => start + elapsed, elapsed: () => elapsed, after, advance };
}

function earliest(tasks: ReadonlySet<Task>, end: number): Task | undefined {
  return [...tasks].filter((task) => task.due <= end).sort((a, b) => a.due - b.due)[0];
}
