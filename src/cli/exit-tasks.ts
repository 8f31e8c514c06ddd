/** Work for the process's own exit, whatever ends it. */
export interface ExitTasks {
  /** Keeps a synchronous task; returns the way to withdraw it. */
  readonly keep: (task: () => void) => () => void;
}

/** Children that are still there when the process exits for whatever reason are killed then. Once a process. */
export function exitTasks(): ExitTasks {
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
