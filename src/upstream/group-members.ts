import { readdir, readFile } from 'node:fs/promises';

/**
 * Whether a process group has a member that is not a zombie. A child's orphans are reaped by process 1, which in a
 * container may be the gateway itself: they would count as running for ever. Where there is no /proc the answer is true.
 */
export async function hasLivingMember(group: number): Promise<boolean> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) return true;
  for (const pid of pids) {
    if (isLivingMember(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''), group)) return true;
  }
  return false;
}

/** proc(5): `pid (command) state ppid pgrp …`; the command may itself hold spaces and parentheses. */
function isLivingMember(stat: string, group: number): boolean {
  const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return pgrp === String(group) && state !== 'Z' && state !== 'X';
}
