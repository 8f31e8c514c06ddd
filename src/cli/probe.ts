import { type UpstreamLists, walkUpstream } from '../catalogue/walk.ts';
import type { Config, ServerConfig } from '../config/schema.ts';
import type { Link, LinkEvents } from '../ports/link.ts';
import { EVERY_CAPABILITY } from '../protocol/capabilities.ts';
import { type ConfiguredDeps, upstreamOptions } from '../upstream/configured.ts';
import { Eras } from '../upstream/eras.ts';
import { openLink } from '../upstream/link.ts';
import { Remarks } from './remarks.ts';

/** What one upstream turned out to be. */
export type Probe = Found | { readonly state: 'unreachable'; readonly cause: string };

export interface Found {
  readonly state: 'found';
  readonly revision: string;
  readonly lists: UpstreamLists;
  /** Milliseconds from the first attempt to the last list. */
  readonly took: number;
  /** What is wrong with its lists. */
  readonly faults: readonly string[];
}

const UNHEARD: LinkEvents = { listChanged() {}, updated() {}, logged() {}, closed() {} };

/**
 * Connects to one upstream as the gateway would, reads its lists and leaves again. Never rejects. Connecting and the
 * lists together take `startTimeout` at most; leaving comes on top.
 */
export async function probe(server: ServerConfig, config: Config, deps: Omit<ConfiguredDeps, 'log'>): Promise<Probe> {
  const log = new Remarks();
  const { clock } = deps;
  const started = clock.elapsed();
  const left = () => Math.max(1, server.startTimeout - (clock.elapsed() - started));
  try {
    const link = await openInTime(server, config, { ...deps, log });
    try {
      const ask = (method: string, params?: string) => link.ask(method, params, left());
      const { lists } = await walkUpstream(ask, link.peer.capabilities, { mirrors: link.mirrors, log });
      const took = Math.round(clock.elapsed() - started);
      return { state: 'found', revision: link.peer.protocolVersion, lists, took, faults: log.faults };
    } finally {
      await link.close();
    }
  } catch (error) {
    return { state: 'unreachable', cause: log.explain(error) };
  }
}

async function openInTime(server: ServerConfig, config: Config, deps: ConfiguredDeps): Promise<Link> {
  const [options] = upstreamOptions({ ...config, mcpServers: [server] }, deps);
  if (options === undefined) throw new Error('it is not configured');
  const eras = new Eras({ startTimeout: options.startTimeout, fixed: options.era }, deps);
  const linkOptions = { ...options, capabilities: EVERY_CAPABILITY, hearsLists: false };
  const linkDeps = { ...deps, dial: options.dial, random: Math.random, distrust: () => {} };
  return eras.open((opening) => openLink(linkOptions, linkDeps, UNHEARD, opening), {
    signal: undefined,
    recheck: false,
  });
}
