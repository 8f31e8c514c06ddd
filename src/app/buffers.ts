import type { Config } from '../config/schema.ts';
import { usableMemory } from '../observe/memory.ts';
import type { Backlogs } from '../ports/link.ts';
import { BufferTotal } from '../transport/buffer-total.ts';
import type { Shared } from './shared.ts';

/** What may wait for all clients and upstreams together, and what happens when it is more. */
export function limitBuffers({ config, clock, log }: Shared, backlogs: () => Backlogs): BufferTotal {
  const limit = bufferedBytes(config.limits);
  return new BufferTotal({ limit, backlogs, clock, log });
}

export function bufferedBytes({ bufferedTotal }: Pick<Config['limits'], 'bufferedTotal'>): number {
  return 'bytes' in bufferedTotal ? bufferedTotal.bytes : (usableMemory() * bufferedTotal.percent) / 100;
}
