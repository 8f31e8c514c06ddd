import type { Log } from '../ports/log.ts';
import type { ListKind, Meter } from '../ports/meter.ts';
import { extensionsOf } from './capabilities.ts';
import type { Definition } from './definitions.ts';
import { type Clash, reachOf } from './ownership.ts';
import { listsOf, type Member, merge, type Naming, type Part, type SeenPart, type Snapshot } from './snapshot.ts';
import { ITEM_KINDS, type UpstreamLists } from './walk.ts';

export type { SeenPart, Snapshot } from './snapshot.ts';

/** What the catalogue needs of an upstream's configuration. */
export interface CatalogueUpstream {
  readonly key: string;
  readonly prefix: string;
  readonly isolation: 'session' | 'shared';
  /** Globs of the resource URIs it may own; null for any. */
  readonly uris: readonly string[] | null;
}

export interface CatalogueOptions {
  /** In the order of the configuration. */
  readonly upstreams: readonly CatalogueUpstream[];
  readonly naming: Naming;
  readonly meter: Meter;
  readonly log: Log;
}

const LISTS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/** The merged lists of all upstreams, replaced one upstream's part at a time. */
export class Catalogue {
  private readonly naming: Naming;
  private readonly meter: Meter;
  private readonly log: Log;
  private current: Snapshot;
  private settled = false;
  private readonly reported = new Set<string>();

  constructor({ upstreams, naming, meter, log }: CatalogueOptions) {
    this.naming = naming;
    this.meter = meter;
    this.log = log;
    const members = upstreams.map(({ key, prefix, isolation, uris }): Member => {
      return { key, prefix, isolation, reach: reachOf(uris), part: { state: 'unseen' } };
    });
    this.current = merge(members, naming, 0);
    this.measure();
  }

  get snapshot(): Snapshot {
    return this.current;
  }

  /** What the upstream last listed: nothing while unseen or forgotten. */
  listsOf(upstream: string): UpstreamLists {
    return listsOf(this.member(upstream).part);
  }

  /** Takes in what a walk found. Returns the kinds whose merged list is another now; templates count as resources. */
  replace(upstream: string, seen: SeenPart): readonly ListKind[] {
    const { part } = this.member(upstream);
    if (part.state === 'listed' && isSame(part, seen)) return [];
    this.reportDropped(upstream, seen);
    return this.change(upstream, { state: 'listed', ...seen });
  }

  /** Drops the definitions of an upstream that has been away for `keepListed`. Returns as `replace`. */
  forget(upstream: string): readonly ListKind[] {
    const { part } = this.member(upstream);
    if (part.state !== 'listed') return [];
    const { capabilities, instructions } = part;
    return this.change(upstream, { state: 'forgotten', capabilities, instructions });
  }

  /** To be called once, when the gateway is ready: from then on no upstream takes a URI from the one that holds it. */
  settle(): void {
    this.settled = true;
  }

  private change(upstream: string, part: Part): readonly ListKind[] {
    const before = this.current;
    const members = before.members.map((member) => (member.key === upstream ? { ...member, part } : member));
    const holders = this.settled ? before.holders : undefined;
    this.current = merge(members, this.naming, before.version + 1, holders);
    this.measure();
    this.reportClashes(before.clashes);
    return LISTS.filter((kind) => before.digests[kind] !== this.current.digests[kind]);
  }

  private member(upstream: string): Member {
    const member = this.current.members.find(({ key }) => key === upstream);
    if (member === undefined) throw new Error(`no upstream ${upstream} in the catalogue`);
    return member;
  }

  private measure(): void {
    for (const kind of ITEM_KINDS) {
      const counts = new Map<string, number>();
      for (const { upstream } of this.current.items[kind]) counts.set(upstream, (counts.get(upstream) ?? 0) + 1);
      for (const { key } of this.current.members) {
        this.meter.gauge('catalogue_items', { kind, upstream: key }).set(counts.get(key) ?? 0);
      }
    }
  }

  /** Once an upstream, whatever it announces later. */
  private reportDropped(upstream: string, { capabilities }: SeenPart): void {
    const { dropped } = extensionsOf(capabilities);
    if (dropped === 0 || this.reported.has(upstream)) return;
    this.reported.add(upstream);
    this.log.warn('capabilities_dropped', { upstream, count: dropped });
  }

  /** One line per upstream that lost, however many URIs it lost by this change. */
  private reportClashes(before: readonly Clash[]): void {
    const known = new Set(before.map(clashKey));
    const fresh = this.current.clashes.filter((clash) => !known.has(clashKey(clash)));
    for (const upstream of new Set(fresh.map((clash) => clash.upstream))) {
      const lost = fresh.filter((clash) => clash.upstream === upstream);
      this.log.warn('uri_clash', { upstream, count: lost.length, uri: lost[0]?.uri, holder: lost[0]?.holder });
    }
  }
}

function clashKey({ uri, upstream, holder }: Clash): string {
  return JSON.stringify([uri, upstream, holder]);
}

function isSame(before: SeenPart, seen: SeenPart): boolean {
  return (
    before.era === seen.era &&
    before.instructions === seen.instructions &&
    JSON.stringify(before.capabilities) === JSON.stringify(seen.capabilities) &&
    ITEM_KINDS.every((kind) => areSame(before.lists[kind], seen.lists[kind]))
  );
}

function areSame(before: readonly Definition[], seen: readonly Definition[]): boolean {
  return before.length === seen.length && before.every(({ digest }, at) => digest === seen[at]?.digest);
}
