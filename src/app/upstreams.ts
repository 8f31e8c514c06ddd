import { Catalogue } from '../catalogue/catalogue.ts';
import { Keeper } from '../catalogue/keeper.ts';
import { Readiness } from '../catalogue/readiness.ts';
import type { Bus, Change } from '../ports/bus.ts';
import { upstreamOptions } from '../upstream/configured.ts';
import { UpstreamPool } from '../upstream/pool.ts';
import type { Shared } from './shared.ts';

export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  /** Keeps a synchronous task for the process's own exit; returns the way to withdraw it. */
  readonly atExit: (task: () => void) => () => void;
}

export interface UpstreamsDeps extends Surroundings {
  readonly bus: Bus;
  /** More waits for an upstream than is worth no thought. Called often. */
  readonly growing: () => void;
}

export type Upstreams = ReturnType<typeof wireUpstreams>;

/** The pool, and what is kept of the upstreams' lists. Nothing is connected before `pool.start()`. */
export function wireUpstreams(shared: Shared, { environment, atExit, bus, growing }: UpstreamsDeps) {
  const { config, clock } = shared;
  const catalogue = new Catalogue({ ...shared, upstreams: config.mcpServers, naming: config.naming });
  const readiness = new Readiness(config.mcpServers, clock);
  const keeper = new Keeper({
    ...shared,
    upstreams: config.mcpServers,
    coalesceMs: config.timing.listChangeCoalesce,
    random: Math.random,
    catalogue,
    readiness,
    bus,
    catalogueLink: (upstream) => pool.catalogueLink(upstream),
  });
  const options = upstreamOptions(config, { ...shared, environment, atExit });
  const pool = new UpstreamPool(options, { ...shared, growing, random: Math.random }, keeper);
  const heed = (change: Change) => {
    if (change.kind !== 'updated') keeper.hinted(change.upstream, [change.kind]);
  };
  const unsubscribe = bus.subscribe((change, origin) => origin === 'elsewhere' && heed(change));
  const unwatch = bus.onMissed(() => keeper.missed());
  /** What somebody outside says has changed: others are told, and this replica looks for itself. */
  const announce = (change: Change) => {
    bus.publish(change, change.kind === 'updated' ? 'everywhere' : 'elsewhere');
    heed(change);
  };
  const close = async () => {
    unsubscribe();
    unwatch();
    keeper.close();
    readiness.close();
    await pool.close();
  };
  return { catalogue, keeper, readiness, pool, announce, close };
}
