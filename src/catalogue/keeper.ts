import type { Bus } from '../ports/bus.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Link } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { ListKind, Meter } from '../ports/meter.ts';
import type { Catalogue } from './catalogue.ts';
import type { Readiness } from './readiness.ts';
import { type Listing, Refresher } from './refresh.ts';
import { walkUpstream } from './walk.ts';

export interface KeeperUpstream {
  readonly key: string;
  /** Milliseconds: for one list request, how long definitions outlive their upstream, and the longest time without a walk. */
  readonly startTimeout: number;
  readonly keepListed: number;
  readonly relist: number;
}

export interface KeeperOptions {
  readonly upstreams: readonly KeeperUpstream[];
  readonly coalesceMs: number;
  readonly catalogue: Catalogue;
  readonly readiness: Readiness;
  readonly bus: Bus;
  /** The live link that holds an upstream's lists. */
  readonly catalogueLink: (upstream: string) => Link | undefined;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
}

/** Keeps the catalogue true to what the catalogue links say, and tells the bus of every difference. */
export class Keeper {
  private readonly options: KeeperOptions;
  private readonly upstreams: ReadonlyMap<string, KeeperUpstream>;
  private readonly refresher: Refresher;
  private readonly leaving = new Map<string, Cancel>();

  constructor(options: KeeperOptions) {
    this.options = options;
    this.upstreams = new Map(options.upstreams.map((upstream) => [upstream.key, upstream]));
    this.refresher = new Refresher({
      ...options,
      walk: (upstream, kinds) => this.walk(upstream, kinds),
      changed: (upstream, kinds) => this.publish(upstream, kinds),
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
      this.publish(upstream, this.options.catalogue.forget(upstream));
    };
    this.leaving.set(upstream, this.options.clock.after(this.of(upstream).keepListed, forget));
  }

  /** Something says that the tools have changed, maybe wrongly. Resolves when they have been listed anew, or are not to be so soon. */
  relistTools(upstream: string): Promise<boolean> {
    return this.refresher.soon(upstream, 'tools');
  }

  listChanged(upstream: string, kind: ListKind): void {
    this.refresher.heard(upstream, kind);
  }

  updated(upstream: string, uri: string): void {
    this.options.bus.publish({ kind: 'updated', upstream, uri });
  }

  close(): void {
    this.refresher.close();
    for (const cancel of this.leaving.values()) cancel();
    this.leaving.clear();
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

  private publish(upstream: string, kinds: readonly ListKind[]): void {
    for (const kind of kinds) this.options.bus.publish({ kind, upstream });
  }

  private of(upstream: string): KeeperUpstream {
    const found = this.upstreams.get(upstream);
    if (found === undefined) throw new Error(`no upstream ${upstream}`);
    return found;
  }
}
