import { totalmem } from 'node:os';

/** Bytes this process may use: of the machine, or of its container where that has a limit. */
export function usableMemory(): number {
  // Zero or absurdly large where there is none.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
