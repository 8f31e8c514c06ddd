import { expect, onTestFinished, test, vi } from 'vitest';
import { startHeartbeat } from '../../src/client/heartbeat.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test('an interval longer than a timer can wait is no flood of pings', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let pings = 0;
  const stop = startHeartbeat(
    { pingInterval: 60 * DAY, pongTimeout: 10_000 },
    {
      ping: () => {
        pings += 1;
      },
      bytesRead: () => pings,
      paused: () => false,
      lost: () => {},
    },
  );
  vi.advanceTimersByTime(HOUR);
  expect(pings).toBe(0);
  vi.advanceTimersByTime(60 * DAY);
  expect(pings).toBeGreaterThan(0);
  expect(pings).toBeLessThan(4);
  stop();
  vi.advanceTimersByTime(60 * DAY);
  expect(pings).toBeLessThan(4);
});
