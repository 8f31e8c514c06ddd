/** One row of `npm run test:deploy`. */
export interface Check {
  /** What is proved; arguments of the program choose rows by the beginning of it, so its first word is the tool's. */
  readonly name: string;
  /** Throws what is wrong; returns what is worth printing beside the row. */
  run(deploy: Deploy): Promise<string | undefined>;
}

/** What a check is given. All it starts, mounts or writes goes with `onEnd` or lies in `scratch`. */
export interface Deploy {
  /** The checkout. */
  readonly root: string;
  /** A directory that goes at the end. */
  readonly scratch: string;
  /** Run last first, also after a failure or a signal. */
  onEnd(task: () => Promise<void> | void): void;
  /** Runs a program to its end; rejects with its output on any exit code but 0, and when it takes too long. */
  sh(command: string, args: readonly string[], options?: ShellOptions): Promise<Output>;
}

export interface ShellOptions {
  readonly cwd?: string;
  /** Beside the variables of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Milliseconds; default two minutes. */
  readonly timeoutMs?: number;
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}
