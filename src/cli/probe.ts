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
      const faults = await secondLinkFaults(server, () => openInTime(server, config, { ...deps, log }), log);
      const ask = (method: string, params?: string) => link.ask(method, params, left());
      const { lists } = await walkUpstream(ask, link.peer.capabilities, { mirrors: link.mirrors, log });
      const took = Math.round(clock.elapsed() - started);
      return { state: 'found', revision: link.peer.protocolVersion, lists, took, faults: [...faults, ...log.faults] };
    } finally {
      await link.close();
    }
  } catch (error) {
    return { state: 'unreachable', cause: log.explain(error) };
  }
}

/**
 * A module that keeps one server passes alone and fails every call, for the server is taken by the link of the lists. A
 * second link beside the first shows it; elsewhere it would cost a process or a session to learn nothing.
 */
async function secondLinkFaults(
  server: ServerConfig,
  open: () => Promise<Link>,
  log: Remarks,
): Promise<readonly string[]> {
  if (server.type !== 'module' || server.isolation === 'shared') return [];
  try {
    const second = await open();
    await second.close();
    return [];
  } catch (error) {
    return [`its function must return a new server for each connection: the second fails (${log.explain(error)})`];
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
