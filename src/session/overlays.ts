import { Refresher } from '../catalogue/refresh.ts';
import type { SeenPart, Snapshot } from '../catalogue/snapshot.ts';
import { walkUpstream } from '../catalogue/walk.ts';
import type { LinkUser } from '../ports/link.ts';
import type { ListKind } from '../ports/meter.ts';
import type { Gateway } from './context.ts';

const KINDS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/**
 * What one session's own links list that everybody's catalogue does not: an upstream may offer this client more, or less,
 * than others. A link that says a list changed is listed anew; where it differs, its lists stand in for that upstream's
 * part, for this session alone and as long as the link lives.
 */
export class Overlays {
  private readonly gateway: Gateway;
  private readonly user: LinkUser;
  private readonly changed: (kind: ListKind) => void;
  private readonly parts = new Map<string, SeenPart>();
  private refresher: Refresher | undefined;
  private made: { base: Snapshot; snapshot: Snapshot } | undefined;

  constructor(gateway: Gateway, user: LinkUser, changed: (kind: ListKind) => void) {
    this.gateway = gateway;
    this.user = user;
    this.changed = changed;
  }

  /** The catalogue as this session has it. */
  snapshot(): Snapshot {
    const base = this.gateway.snapshot();
    if (this.parts.size === 0) return base;
    if (this.made?.base !== base) this.made = { base, snapshot: base.overlaid(this.parts) };
    return this.made.snapshot;
  }

  /** The session's own link says so. */
  listChanged(upstream: string, kind: ListKind): void {
    this.refresher ??= this.makeRefresher();
    this.refresher.heard(upstream, kind);
  }

  /** The session's link is gone, and what it alone listed with it. */
  linkClosed(upstream: string): void {
    // A walk would open a link to list by.
    this.refresher?.forget(upstream);
    if (this.parts.delete(upstream)) this.remade(KINDS);
  }

  close(): void {
    this.refresher?.close();
    this.parts.clear();
    this.made = undefined;
  }

  private makeRefresher(): Refresher {
    const { gateway } = this;
    return new Refresher({
      ...gateway,
      catalogue: { replace: (upstream, part) => this.replace(upstream, part) },
      changed: (_upstream, kinds) => this.tell(kinds),
      coalesceMs: gateway.limits.listChangeCoalesce,
      relistMs: () => Number.POSITIVE_INFINITY,
      walk: (upstream, kinds) => this.walk(upstream, kinds),
    });
  }

  private async walk(upstream: string, kinds: readonly ListKind[]) {
    const link = await this.gateway.links.acquire(upstream, this.user);
    const { era, capabilities, instructions } = link.peer;
    const previous = this.parts.get(upstream)?.lists ?? this.gateway.snapshot().listsOf(upstream);
    const ask = (method: string, params?: string) => link.ask(method, params);
    const { mirrors } = link;
    const { log } = this.gateway;
    const { lists, failed } = await walkUpstream(ask, capabilities, { previous, kinds, mirrors, log });
    return { part: { era, capabilities, instructions, lists }, failed };
  }

  private replace(upstream: string, part: SeenPart): readonly ListKind[] {
    const before = this.snapshot().digests;
    const base = this.gateway.snapshot();
    const alone = base.overlaid(new Map([[upstream, part]])).digests;
    if (KINDS.every((kind) => alone[kind] === base.digests[kind])) this.parts.delete(upstream);
    else this.parts.set(upstream, part);
    this.made = undefined;
    const now = this.snapshot().digests;
    return KINDS.filter((kind) => before[kind] !== now[kind]);
  }

  private remade(kinds: readonly ListKind[]): void {
    this.made = undefined;
    this.tell(kinds);
  }

  private tell(kinds: readonly ListKind[]): void {
    for (const kind of kinds) this.changed(kind);
  }
}
