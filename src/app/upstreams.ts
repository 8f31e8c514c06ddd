import { Catalogue } from '../catalogue/catalogue.ts';
import { Keeper } from '../catalogue/keeper.ts';
import { Readiness } from '../catalogue/readiness.ts';
import { MemoryBus } from '../fanout/memory-bus.ts';
import { upstreamOptions } from '../upstream/configured.ts';
import { UpstreamPool } from '../upstream/pool.ts';
import type { Shared } from './shared.ts';

export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  /** Keeps a synchronous task for the process's own exit; returns the way to withdraw it. */
  readonly atExit: (task: () => void) => () => void;
}

export interface UpstreamsDeps extends Surroundings {
  /** More waits for an upstream than is worth no thought. Called often. */
  readonly growing: () => void;
}

export type Upstreams = ReturnType<typeof wireUpstreams>;

/** The pool, and what is kept of the upstreams' lists. Nothing is connected before `pool.start()`. */
export function wireUpstreams(shared: Shared, { environment, atExit, growing }: UpstreamsDeps) {
  const { config, clock, log } = shared;
  const catalogue = new Catalogue({ ...shared, upstreams: config.mcpServers, naming: config.naming });
  const readiness = new Readiness(config.mcpServers, clock);
  const bus = new MemoryBus(log);
  const keeper = new Keeper({
    ...shared,
    upstreams: config.mcpServers,
    coalesceMs: config.timing.listChangeCoalesce,
    catalogue,
    readiness,
    bus,
    catalogueLink: (upstream) => pool.catalogueLink(upstream),
  });
  const options = upstreamOptions(config, { ...shared, environment, atExit });
  const pool = new UpstreamPool(options, { ...shared, growing, random: Math.random }, keeper);
  const close = async () => {
    keeper.close();
    readiness.close();
    await pool.close();
    await bus.close();
  };
  return { catalogue, keeper, readiness, bus, pool, close };
}
