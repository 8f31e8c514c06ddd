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
});
