import type { Held } from './probe.ts';

const MIB = 1024 * 1024;

/** `12.3 MiB`. */
export function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}

/** Whether `now` is at most so much over `before`: a share of it, or bytes where that is more. */
export function within(before: number, now: number, share: number, bytes: number): boolean {
  return now <= before + Math.max(before * share, bytes);
}

/** Handles by kind, as text that can be compared. */
export function handlesText({ handles, listeners }: Held): string {
  const kinds = Object.entries(handles).sort(([a], [b]) => (a < b ? -1 : 1));
  return [...kinds.map(([kind, count]) => `${kind} ${count}`), `listeners ${listeners}`].join(', ');
}
