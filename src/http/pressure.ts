import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import { usableMemory } from '../observe/memory.ts';

/** Above any of these nobody else comes in. */
export interface Pressure {
  /** Milliseconds a turn of the event loop is late on average, over a sample. */
  readonly maxEventLoopDelay: number;
  readonly maxHeapUsedBytes: number;
  readonly maxRssBytes: number;
  /** Milliseconds between two samples. */
  readonly sampleInterval: number;
}

/** Of what the process may have. */
const MEMORY_SHARE = 0.9;

/** Utilization of the loop is no sign: a gateway with enough to do is at 1 and serves well. */
export function defaultPressure(): Pressure {
  return {
    maxEventLoopDelay: 500,
    maxHeapUsedBytes: getHeapStatistics().heap_size_limit * MEMORY_SHARE,
    maxRssBytes: usableMemory() * MEMORY_SHARE,
    sampleInterval: 1000,
  };
}

/** Samples until the server closes; `app.isUnderPressure()` says what was found. The plugin's own answer is never given: the listeners' is. */
export async function watchPressure(app: FastifyInstance, pressure: Pressure): Promise<void> {
  await app.register(underPressure, { ...pressure, pressureHandler: () => {} });
}
