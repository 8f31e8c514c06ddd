import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/observe/clock.ts';

const DAY = 86_400_000;

describe('system clock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('waits longer than one timer can hold', () => {
    const task = vi.fn();
    systemClock().after(60 * DAY, task);
    vi.advanceTimersByTime(60 * DAY - 1);
    expect(task).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(task).toHaveBeenCalledOnce();
  });

  it('cancels in whichever part of the wait, and twice', () => {
    const task = vi.fn();
    const cancel = systemClock().after(60 * DAY, task);
    vi.advanceTimersByTime(30 * DAY);
    cancel();
    cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(60 * DAY);
    expect(task).not.toHaveBeenCalled();
  });

  it('keeps nothing of what was cancelled, however long that would have waited', () => {
    vi.useRealTimers();
    const clock = systemClock();
    const startAndCancel = (from: number) => {
      for (let at = 0; at < 50_000; at += 1) clock.after(DAY + from + at, () => {})();
      return heldBytes();
    };
    const before = startAndCancel(0);
    expect(startAndCancel(50_000) - before).toBeLessThan(1024 * 1024);
  });
});

/** After garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  return process.memoryUsage().heapUsed;
}
