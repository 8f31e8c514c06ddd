import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import spawn from 'cross-spawn';
import { hasLivingMember } from './group-members.ts';

/**
 * A child and all it starts: its own process group, so that a wrapper (`npx`, `sh -c`) never leaves its server behind.
 * On Windows, which has no groups, only the child itself is signalled.
 */
export interface ProcessGroup {
  readonly pid: number;
  /** An `error` listener is installed; a broken pipe is the owner's to notice. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The leader has ended. Others of its group may live on until `stop`. Never rejects. */
  readonly exited: Promise<Exit>;
  /**
   * Closes stdin, then SIGTERM, then SIGKILL to the whole group, each after its grace; without the first wait when the
   * leader is gone already. Idempotent, never rejects; resolves when no process of the group is left.
   */
  stop(): Promise<void>;
  /** SIGKILL to the group at once, synchronously: for the gateway's own exit. */
  killNow(): void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Milliseconds waited after closing stdin, after SIGTERM, and after SIGKILL (for the kernel; zombies nobody reaps). */
export interface StopGrace {
  readonly stdin: number;
  readonly term: number;
  readonly kill: number;
}

/** Together under 2 s, the time a gateway's stop may take. */
export const STOP_GRACE: StopGrace = { stdin: 400, term: 900, kill: 500 };

export interface GroupCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly grace?: StopGrace;
}

/** Resolves when the child runs. Rejects with a sentence for the log: it names the command, never arguments or environment. */
export async function startGroup(options: GroupCommand): Promise<ProcessGroup> {
  const child = await spawned(options);
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    throw new Error(`${options.command} was started without pipes`);
  }
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  stdin.on('error', () => {});
  const members = groupMembers(child, pid);
  let stopping: Promise<void> | undefined;
  return {
    pid,
    stdin,
    stdout,
    stderr,
    exited,
    stop: () => {
      stopping ??= stopGroup(stdin, members, options.grace ?? STOP_GRACE);
      return stopping;
    },
    killNow: () => members.signal('SIGKILL'),
  };
}

function spawned(options: GroupCommand): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) => {
      void startError(options, error).then(reject);
    };
    try {
      const child = spawn(options.command, options.args, {
        env: options.env,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
      // Stays for the child's life: a signal that cannot be delivered is an `error` event too.
      child.on('error', refuse);
      child.once('spawn', () => resolve(child));
    } catch (error) {
      refuse(error);
    }
  });
}

/** Node reports a missing working directory as a missing command; this tells them apart. */
async function startError(options: GroupCommand, error: unknown): Promise<Error> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isDirectory =
    options.cwd === undefined ||
    (await stat(options.cwd).then(
      (s) => s.isDirectory(),
      () => false,
    ));
  const start = `cannot start ${JSON.stringify(options.command)}: `;
  if (!isDirectory) return new Error(`${start}its working directory does not exist`);
  if (code === 'ENOENT') return new Error(`${start}no such command`);
  if (code === 'EACCES') return new Error(`${start}not executable`);
  return new Error(start + (typeof code === 'string' ? code : 'the system refused'));
}

interface GroupMembers {
  /** Also false after it was false once: the number may belong to others from then on. */
  anyLeft(): boolean;
  /** As `anyLeft`, and tells dead members that nobody reaps from living ones. Slower. */
  anyAlive(): Promise<boolean>;
  leaderLeft(): boolean;
  signal(signal: NodeJS.Signals): void;
}

function groupMembers(child: ChildProcess, pid: number): GroupMembers {
  const hasGroup = process.platform !== 'win32';
  let gone = false;
  const leaderLeft = () => child.exitCode === null && child.signalCode === null;
  const anyLeft = () => {
    if (!gone && !leaderLeft()) gone = !hasGroup || !canSignal(-pid);
    return !gone;
  };
  // The group's number is freed with its last member: look at once, before the system can give it away.
  child.once('exit', anyLeft);
  return {
    anyLeft,
    leaderLeft,
    async anyAlive() {
      if (anyLeft() && !leaderLeft()) gone = !(await hasLivingMember(pid));
      return !gone;
    },
    signal(signal) {
      if (!anyLeft()) return;
      if (hasGroup) sendSignal(-pid, signal);
      else child.kill(signal);
    },
  };
}

async function stopGroup(stdin: Writable, members: GroupMembers, grace: StopGrace): Promise<void> {
  const hadLeader = members.leaderLeft();
  stdin.end();
  if (!hadLeader || !(await emptied(members, grace.stdin))) {
    members.signal('SIGTERM');
    if (!(await emptied(members, grace.term))) {
      members.signal('SIGKILL');
      await emptied(members, grace.kill);
    }
  }
  stdin.destroy();
}

/** Whether the group is empty within `ms`. These timers keep the process alive on purpose: it must not end before its children. */
async function emptied(members: GroupMembers, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  for (let wait = 2; members.anyLeft(); wait = Math.min(wait * 2, 100)) {
    if (wait >= 16 && !(await members.anyAlive())) return true;
    const left = until - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(wait, left));
  }
  return true;
}

function canSignal(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch (error) {
    return !isNoSuchProcess(error);
  }
}

function sendSignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Gone in between, or not ours to signal: the wait that follows tells which.
  }
}

function isNoSuchProcess(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ESRCH';
}
