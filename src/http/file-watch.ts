import { stat } from 'node:fs/promises';
import type { Cancel, Clock } from '../ports/clock.ts';

/** How often the files are looked at, in milliseconds. */
const LOOK_MS = 1000;

/** One text for how files stand on disk, links followed: another one when any was written, replaced or removed. Never rejects. */
export async function standing(paths: readonly string[]): Promise<string> {
  const each = paths.map(async (path) => {
    try {
      const { ino, size, mtimeMs, ctimeMs } = await stat(path);
      return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    }
  });
  return (await Promise.all(each)).join('\n');
}

/**
 * Looks at the files again and again, which sees what events of the file system miss: a folder swapped by a link, a
 * mount. Calls `changed` when they stand otherwise than `since` and no writer is at work: two looks in a row found the same.
 */
export function watchFiles(paths: readonly string[], since: string, clock: Clock, changed: () => void): Cancel {
  let known = since;
  let last = since;
  let isOver = false;
  let stop: Cancel = () => {};
  const look = async () => {
    const found = await standing(paths);
    if (isOver) return;
    const isNews = found !== known && found === last;
    last = found;
    if (isNews) known = found;
    stop = clock.after(LOOK_MS, () => void look());
    if (isNews) changed();
  };
  stop = clock.after(LOOK_MS, () => void look());
  return () => {
    isOver = true;
    stop();
  };
}
