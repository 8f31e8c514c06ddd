import type { Log } from '../../src/ports/log.ts';
import type { Meter } from '../../src/ports/meter.ts';

/** A meter to be read: `read('list_changes_total', { kind: 'tools', stage: 'heard' })`, 0 where nothing was measured. */
export function recordedMeter(): Meter & { read(name: string, labels: Readonly<Record<string, string>>): number } {
  const values = new Map<string, number>();
  const keyOf = (name: string, labels: object) => JSON.stringify([name, Object.entries(labels).sort()]);
  const cell = (name: string, labels: object) => {
    const key = keyOf(name, labels);
    const add = (by = 1) => void values.set(key, (values.get(key) ?? 0) + by);
    return { add, set: (value: number) => void values.set(key, value), observe: add };
  };
  return {
    counter: cell,
    gauge: cell,
    histogram: cell,
    read: (name, labels) => values.get(keyOf(name, labels)) ?? 0,
  };
}

export interface Line {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines. */
export function recordedLog(lines: Line[] = []): Log & { readonly lines: readonly Line[] } {
  const write = (event: string, fields: Readonly<Record<string, unknown>> = {}) => void lines.push({ event, fields });
  return { lines, debug: write, info: write, warn: write, error: write, child: () => recordedLog(lines) };
}
