import { setTimeout as startTimer } from 'node:timers';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Fields, Log } from '../../../src/ports/log.ts';
import type { Meter } from '../../../src/ports/meter.ts';
import type { ChannelFailure, Receiver } from '../../../src/ports/transport.ts';

export const realClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, task) {
    const timer = startTimer(task, ms).unref();
    return () => clearTimeout(timer);
  },
};

export interface LogEntry {
  readonly event: string;
  readonly fields: Fields;
}

export function recordingLog(): { log: Log; entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const under = (bound: Fields): Log => {
    const write = (event: string, fields: Fields = {}) => {
      entries.push({ event, fields: { ...bound, ...fields } });
    };
    return { debug: write, info: write, warn: write, error: write, child: (more) => under({ ...bound, ...more }) };
  };
  return { log: under({}), entries };
}

/** A meter of which only the gauges can be read, by name and labels. */
export function recordingMeter(): { meter: Meter; gauge(name: string, labels: object): number } {
  const values = new Map<string, number>();
  const keyOf = (name: string, labels: object) => `${name} ${JSON.stringify(labels)}`;
  const meter: Meter = {
    counter: () => ({ add() {} }),
    histogram: () => ({ observe() {} }),
    gauge(name, labels) {
      const key = keyOf(name, labels);
      return {
        add: (by) => values.set(key, (values.get(key) ?? 0) + by),
        set: (value) => values.set(key, value),
      };
    },
  };
  return { meter, gauge: (name, labels) => values.get(keyOf(name, labels)) ?? 0 };
}

export interface Closing {
  readonly cause: Error | undefined;
}

export interface RecordingReceiver extends Receiver {
  /** All that arrived, in order; `next` does not take from it. */
  readonly messages: string[];
  readonly failures: { id: number; failure: ChannelFailure }[];
  readonly closings: Closing[];
  /** The next message not yet returned; rejects when the channel ends first. */
  next(): Promise<string>;
  nextFailure(): Promise<{ id: number; failure: ChannelFailure }>;
  readonly whenClosed: Promise<Closing>;
}

/** Keeps what a channel says. `onMessage` is called inside the delivery. */
export function recordingReceiver(onMessage: (text: string) => void = () => {}): RecordingReceiver {
  const messages: string[] = [];
  const failures: { id: number; failure: ChannelFailure }[] = [];
  const closings: Closing[] = [];
  const waiters = new Set<() => void>();
  const changed = () => new Promise<void>((resolve) => waiters.add(resolve));
  const wake = () => {
    for (const resume of waiters) resume();
    waiters.clear();
  };
  const nextOf = async <T>(list: readonly T[], index: number): Promise<T> => {
    for (;;) {
      const found = list[index];
      if (found !== undefined) return found;
      if (closings.length > 0) throw new Error('closed', { cause: closings[0]?.cause });
      await changed();
    }
  };
  const reads = { message: 0, failure: 0 };
  return {
    messages,
    failures,
    closings,
    message(text) {
      messages.push(text);
      wake();
      onMessage(text);
    },
    failed(id, failure) {
      failures.push({ id, failure });
      wake();
    },
    closed(cause) {
      closings.push({ cause });
      wake();
    },
    next: () => nextOf(messages, reads.message++),
    nextFailure: () => nextOf(failures, reads.failure++),
    whenClosed: (async () => {
      while (closings.length === 0) await changed();
      return closings[0] ?? { cause: undefined };
    })(),
  };
}
