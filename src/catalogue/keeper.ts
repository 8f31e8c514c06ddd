import type { Bus, Reach } from '../ports/bus.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Link } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { ListKind, Meter } from '../ports/meter.ts';
import type { Catalogue } from './catalogue.ts';
import type { Readiness } from './readiness.ts';
import { type Listing, Refresher, type WalkCause } from './refresh.ts';
import { walkUpstream } from './walk.ts';

export interface KeeperUpstream {
  readonly key: string;
  /** Milliseconds: for one list request, how long definitions outlive their upstream, and the longest time without a walk. */
  readonly startTimeout: number;
  readonly keepListed: number;
  readonly relist: number;
}

/** Replicas that all lost the same changes do not all list at once: each waits up to so many milliseconds, for each upstream anew. */
const MISSED_JITTER_MS = 2_000;
const KINDS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

export interface KeeperOptions {
  readonly upstreams: readonly KeeperUpstream[];
  readonly coalesceMs: number;
  readonly catalogue: Catalogue;
  readonly readiness: Readiness;
  readonly bus: Bus;
  /** The live link that holds an upstream's lists. */
  readonly catalogueLink: (upstream: string) => Link | undefined;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly meter: Meter;
  readonly log: Log;
}

/** Keeps the catalogue true to what the catalogue links say, and tells the bus of every difference. */
export class Keeper {
  private readonly options: KeeperOptions;
  private readonly upstreams: ReadonlyMap<string, KeeperUpstream>;
  private readonly refresher: Refresher;
  private readonly leaving = new Map<string, Cancel>();
  /** Upstreams that have a listing to differ from. */
  private readonly listed = new Set<string>();
  private readonly missing = new Map<string, Cancel>();
  /** Lists that differed when somebody's hint had them listed, which was told on to nobody. */
  private readonly differedByHint = new Set<string>();

  constructor(options: KeeperOptions) {
    this.options = options;
    this.upstreams = new Map(options.upstreams.map((upstream) => [upstream.key, upstream]));
    this.refresher = new Refresher({
      ...options,
      walk: (upstream, kinds) => this.walk(upstream, kinds),
      changed: (upstream, kinds, cause) => this.changed(upstream, kinds, cause),
      relistMs: (upstream) => this.of(upstream).relist,
    });
    void options.readiness.firstAnswers(Number.POSITIVE_INFINITY).then(() => options.catalogue.settle());
  }

  /** A catalogue link is up: everything is listed anew, and only then has the upstream answered. */
  up(link: Link): void {
    const { upstream } = link;
    this.leaving.get(upstream)?.();
    this.leaving.delete(upstream);
    const { readiness } = this.options;
    void this.refresher.refreshNow(upstream).then((answered) => {
      if (answered) readiness.answered(upstream);
      else readiness.failed(upstream);
    });
  }

  /** A catalogue link is down or could not be opened; its definitions stay for `keepListed`. */
  down(upstream: string): void {
    this.options.readiness.failed(upstream);
    if (this.leaving.has(upstream)) return;
    const forget = () => {
      this.leaving.delete(upstream);
      this.listed.delete(upstream);
      this.publish(upstream, this.options.catalogue.forget(upstream), 'here');
    };
    this.leaving.set(upstream, this.options.clock.after(this.of(upstream).keepListed, forget));
  }

  /** Something says that the tools have changed, maybe wrongly. Resolves when they have been listed anew, or are not to be so soon. */
  relistTools(upstream: string): Promise<boolean> {
    return this.refresher.soon(upstream, 'tools');
  }

  /** The upstream says so. A listing for a hint may have found this very difference before: then others do not know of it yet. */
  listChanged(upstream: string, kind: ListKind): void {
    if (this.differedByHint.delete(listName(upstream, kind))) this.publish(upstream, [kind], 'elsewhere');
    this.refresher.heard(upstream, kind);
  }

  /** Another replica, or somebody outside, knows that a list may have changed. */
  hinted(upstream: string, kinds: readonly ListKind[] = KINDS): void {
    if (this.upstreams.has(upstream)) this.refresher.hinted(upstream, kinds);
  }

  /** What others knew was lost: everything is listed anew, soon, but not at once. */
  missed(): void {
    const { clock, random } = this.options;
    for (const upstream of this.upstreams.keys()) {
      if (this.missing.has(upstream)) continue;
      const relist = () => {
        this.missing.delete(upstream);
        this.hinted(upstream);
      };
      this.missing.set(upstream, clock.after(random() * MISSED_JITTER_MS, relist));
    }
  }

  updated(upstream: string, uri: string): void {
    this.options.bus.publish({ kind: 'updated', upstream, uri });
  }

  close(): void {
    this.refresher.close();
    for (const cancel of [...this.leaving.values(), ...this.missing.values()]) cancel();
    this.leaving.clear();
    this.missing.clear();
  }

  private async walk(upstream: string, kinds: readonly ListKind[]): Promise<Listing> {
    const { catalogue, catalogueLink, log } = this.options;
    const link = catalogueLink(upstream);
    if (link === undefined) throw new Error(`no catalogue link to ${upstream}`);
    const { era, capabilities, instructions } = link.peer;
    const ask = (method: string, params?: string) => link.ask(method, params, this.of(upstream).startTimeout);
    const walked = await walkUpstream(ask, capabilities, {
      previous: catalogue.listsOf(upstream),
      kinds,
      mirrors: link.mirrors,
      log: log.child({ upstream }),
    });
    return { part: { era, capabilities, instructions, lists: walked.lists }, failed: walked.failed };
  }

  /** Others hear of what differs from an earlier listing, unless one of them knew it first: each lists for itself when it starts. */
  private changed(upstream: string, kinds: readonly ListKind[], cause: WalkCause): void {
    const isNews = this.listed.has(upstream) && cause === 'own';
    this.listed.add(upstream);
    for (const kind of kinds) {
      if (cause === 'hint') this.differedByHint.add(listName(upstream, kind));
      else this.differedByHint.delete(listName(upstream, kind));
    }
    this.publish(upstream, kinds, isNews ? 'everywhere' : 'here');
  }

  private publish(upstream: string, kinds: readonly ListKind[], reach: Reach): void {
    for (const kind of kinds) this.options.bus.publish({ kind, upstream }, reach);
  }

  private of(upstream: string): KeeperUpstream {
    const found = this.upstreams.get(upstream);
    if (found === undefined) throw new Error(`no upstream ${upstream}`);
    return found;
  }
}

function listName(upstream: string, kind: ListKind): string {
  return `${upstream} ${kind}`;
}
