import type { Grants } from '../policy/access.ts';
import type { ItemKind, ListKind } from '../ports/meter.ts';
import type { ServerCapabilities } from '../protocol/capabilities.ts';
import type { Era } from '../protocol/era.ts';
import type { Owned } from '../protocol/names.ts';
import { unite } from './capabilities.ts';
import { type Page, Pages } from './pages.ts';
import { digestsOf, type Item, type Member, type Snapshot } from './snapshot.ts';
import { LIST_KINDS } from './walk.ts';

/** The part of a snapshot that a principal may see: what no rule denies it, calls that depend on arguments included. */
export interface View {
  /** The JSON text of a list result; 'bad_cursor' for one this gateway did not write for this kind of list. */
  page(kind: ItemKind, era: Era, cursor?: string): Page | 'bad_cursor';
  /** Equal digests mean equal lists; templates are part of resources. */
  digest(kind: ListKind): string;
  /** Of the upstreams of which something is seen or, as long as they list nothing, may be. */
  readonly capabilities: ServerCapabilities;
  /** Keys of those upstreams. */
  readonly upstreams: ReadonlySet<string>;
  /** Whether the capabilities announce this kind of list. */
  has(kind: ItemKind): boolean;
  /** Of the upstreams of which something is seen, under their keys. */
  readonly instructions: string | undefined;
  /** Undefined alike for what is denied and what does not exist. */
  tool(publicName: string): Owned | undefined;
  prompt(publicName: string): Owned | undefined;
}

const MAX_VIEWS = 256;

/** Per snapshot, by the key of the grants; once half full, the longest unused first: keeping that order costs on every call. */
const views = new WeakMap<Snapshot, Map<string, View>>();

/** The view of a principal with these grants: one object for all sessions whose grants have this key. */
export function viewOf(snapshot: Snapshot, grants: Grants): View {
  const known = views.get(snapshot) ?? remember(snapshot);
  const found = known.get(grants.key);
  if (found !== undefined && known.size <= MAX_VIEWS / 2) return found;
  const view = found ?? new GrantedView(snapshot, grants);
  known.delete(grants.key);
  known.set(grants.key, view);
  if (known.size > MAX_VIEWS) for (const oldest of [...known.keys()].slice(0, -MAX_VIEWS)) known.delete(oldest);
  return view;
}

function remember(snapshot: Snapshot): Map<string, View> {
  const known = new Map<string, View>();
  views.set(snapshot, known);
  return known;
}

class GrantedView implements View {
  readonly capabilities: ServerCapabilities;
  readonly upstreams: ReadonlySet<string>;
  readonly instructions: string | undefined;
  private readonly pages: Readonly<Record<ItemKind, Pages>>;
  private readonly handshakeTools: Pages;
  private readonly digests: Readonly<Record<ListKind, string>>;
  private readonly tools: ReadonlyMap<string, Owned>;
  private readonly prompts: ReadonlyMap<string, Owned>;

  constructor(snapshot: Snapshot, grants: Grants) {
    const items = visibleItems(snapshot, grants);
    this.pages = {
      tools: new Pages('tools', items.tools),
      resources: new Pages('resources', items.resources),
      templates: new Pages('templates', items.templates),
      prompts: new Pages('prompts', items.prompts),
    };
    this.handshakeTools = items.tools.some((item) => item.handshakeText !== item.text)
      ? new Pages('tools', items.tools, (item) => item.handshakeText)
      : this.pages.tools;
    this.digests = digestsOf(items);
    this.tools = byKey(items.tools);
    this.prompts = byKey(items.prompts);
    const seen = upstreamsOf(items);
    const filled = upstreamsOf(snapshot.items);
    const members = snapshot.members.filter(({ key }) => seen.has(key) || !filled.has(key));
    this.upstreams = new Set(members.map(({ key }) => key));
    this.capabilities = unite(members);
    this.instructions = joined(snapshot.members.filter(({ key }) => seen.has(key)));
  }

  page(kind: ItemKind, era: Era, cursor?: string): Page | 'bad_cursor' {
    const pages = kind === 'tools' && era === 'handshake' ? this.handshakeTools : this.pages[kind];
    return pages.page(cursor);
  }

  digest(kind: ListKind): string {
    return this.digests[kind];
  }

  has(kind: ItemKind): boolean {
    return this.capabilities[LIST_KINDS[kind]] !== undefined;
  }

  tool(publicName: string): Owned | undefined {
    return this.tools.get(publicName);
  }

  prompt(publicName: string): Owned | undefined {
    return this.prompts.get(publicName);
  }
}

function visibleItems({ items }: Snapshot, grants: Grants): Snapshot['items'] {
  const may = (kind: 'tools' | 'prompts' | 'resources', template: boolean) => (item: Item) =>
    grants.decide({ kind, upstream: item.upstream, name: item.original, template }).effect !== 'deny';
  return {
    tools: items.tools.filter(may('tools', false)),
    resources: items.resources.filter(may('resources', false)),
    templates: items.templates.filter(may('resources', true)),
    prompts: items.prompts.filter(may('prompts', false)),
  };
}

function byKey(items: readonly Item[]): Map<string, Owned> {
  return new Map(items.map(({ key, upstream, original }) => [key, { upstream, original }]));
}

function upstreamsOf(items: Snapshot['items']): Set<string> {
  return new Set(Object.values(items).flatMap((list) => list.map((item) => item.upstream)));
}

function joined(members: readonly Member[]): string | undefined {
  const texts = members.flatMap(({ key, part }) => {
    const text = part.state === 'listed' ? part.instructions?.trim() : undefined;
    return text === undefined || text === '' ? [] : [`# ${key}\n\n${text}`];
  });
  return texts.length === 0 ? undefined : texts.join('\n\n');
}
