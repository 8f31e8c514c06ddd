import { createHash } from 'node:crypto';
import type { ItemKind, ListKind } from '../ports/meter.ts';
import type { Era } from '../protocol/era.ts';
import { handshakeDefinition } from '../protocol/handshake-shape.ts';
import type { Mirrors } from '../protocol/mirrors.ts';
import { type NameTable, type Owned, publicNames } from '../protocol/names.ts';
import { type Definition, digestOf, publicText } from './definitions.ts';
import { type Claimant, type Clash, findOwner, type Holders, holdersOf, type Reach } from './ownership.ts';
import { NO_LISTS, type UpstreamLists } from './walk.ts';

/** What an upstream has said of itself. */
export interface SeenPart {
  readonly era: Era;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
  readonly lists: UpstreamLists;
}

/** Forgotten: away for longer than its definitions stay listed; what it can do is still known. */
export type Part =
  | { readonly state: 'unseen' }
  | ({ readonly state: 'listed' } & SeenPart)
  | ({ readonly state: 'forgotten' } & Omit<SeenPart, 'era' | 'lists'>);

/** An upstream of the configuration, with its part. */
export interface Member {
  readonly key: string;
  readonly prefix: string;
  readonly isolation: 'session' | 'shared';
  readonly reach: Reach;
  readonly part: Part;
}

/** A definition as it stands in the merged lists. */
export interface Item {
  readonly upstream: string;
  readonly original: string;
  /** Public name, URI or URI template: unique in its list. */
  readonly key: string;
  /** The definition under its public name, and as a handshake client may read it: the same, or without what only the modern era allows. */
  readonly text: string;
  readonly handshakeText: string;
  /** Of key and definition. */
  readonly digest: string;
}

/** The merged catalogue at one moment; never changes. */
export interface Snapshot {
  /** Grows with every change. */
  readonly version: number;
  /** In the order of the configuration. */
  readonly members: readonly Member[];
  /** Sorted by key in code units, no key twice. */
  readonly items: Readonly<Record<ItemKind, readonly Item[]>>;
  /** Equal digests mean equal merged lists; templates are part of resources. */
  readonly digests: Readonly<Record<ListKind, string>>;
  /** Who holds each listed URI. */
  readonly holders: Holders;
  /** Definitions left out because another upstream holds their URI or template. */
  readonly clashes: readonly Clash[];
  /** The upstream a URI is read from and subscribed at; undefined: not found. Whether the caller may is another question. */
  ownerOf(uri: string): string | undefined;
  /** What this upstream listed last. */
  listsOf(upstream: string): UpstreamLists;
  /** The same with other parts in the place of these upstreams' own; who holds a URI keeps it. */
  overlaid(parts: ReadonlyMap<string, SeenPart>): Snapshot;
  /** The upstream that lists this text as a URI template. */
  templateOwner(template: string): string | undefined;
  /** What stands behind public names, whether the caller may see it or not: a view answers that. */
  readonly tools: Names;
  readonly prompts: Names;
  /** What this tool of this upstream wants repeated beside a call. */
  mirrorsOf(upstream: string, tool: string): Mirrors | undefined;
}

export interface Names {
  resolve(publicName: string): Owned | undefined;
}

export interface Naming {
  readonly separator: string;
  readonly maxLength: number;
}

/** `before`: holders that keep what they hold; absent until the gateway is ready. */
export function merge(members: readonly Member[], naming: Naming, version: number, before?: Holders): Snapshot {
  const uris = holdersOf(claims(members, 'resources'), before);
  const templates = holdersOf(claims(members, 'templates'));
  const claimants = members.map(claimantOf);
  const tools = namesOf(members, 'tools', naming);
  const prompts = namesOf(members, 'prompts', naming);
  const items = {
    tools: named(members, 'tools', tools),
    resources: held(members, 'resources', uris.holders),
    templates: held(members, 'templates', templates.holders),
    prompts: named(members, 'prompts', prompts),
  };
  const mirrors = mirrorTable(members);
  return {
    version,
    members,
    items,
    digests: digestsOf(items),
    holders: uris.holders,
    clashes: [...uris.clashes, ...templates.clashes],
    ownerOf: (uri) => findOwner(uri, uris.holders, claimants),
    listsOf: (upstream) => listsOf(members.find(({ key }) => key === upstream)?.part ?? { state: 'unseen' }),
    overlaid: (parts) => merge(overlay(members, parts), naming, version, uris.holders),
    templateOwner: (template) => templates.holders.get(template),
    tools: { resolve: (name) => tools.byPublic.get(name) },
    prompts: { resolve: (name) => prompts.byPublic.get(name) },
    mirrorsOf: (upstream, tool) => (mirrors.size === 0 ? undefined : mirrors.get(mirrorKey(upstream, tool))),
  };
}

function mirrorTable(members: readonly Member[]): ReadonlyMap<string, Mirrors> {
  const table = new Map<string, Mirrors>();
  for (const { key, part } of members)
    for (const { original, mirrors } of listsOf(part).tools)
      if (mirrors !== undefined) table.set(mirrorKey(key, original), mirrors);
  return table;
}

/** No key of an upstream has a slash. */
function mirrorKey(upstream: string, tool: string): string {
  return `${upstream}/${tool}`;
}

function overlay(members: readonly Member[], parts: ReadonlyMap<string, SeenPart>): readonly Member[] {
  return members.map((member) => {
    const part = parts.get(member.key);
    return part === undefined ? member : { ...member, part: { state: 'listed', ...part } };
  });
}

/** One digest per kind of list over the items in it, in their order. */
export function digestsOf(items: Snapshot['items']): Record<ListKind, string> {
  const over = (...lists: (readonly Item[])[]) => {
    const hash = createHash('sha256');
    for (const list of lists) hash.update(`${list.length}:`).update(list.map((item) => item.digest).join(''));
    return hash.digest('base64url').slice(0, 22);
  };
  return {
    tools: over(items.tools),
    resources: over(items.resources, items.templates),
    prompts: over(items.prompts),
  };
}

export function listsOf(part: Part): UpstreamLists {
  return part.state === 'listed' ? part.lists : NO_LISTS;
}

export function capabilitiesOf(part: Part): Readonly<Record<string, unknown>> | undefined {
  return part.state === 'unseen' ? undefined : part.capabilities;
}

function isModern(part: Part): boolean {
  return part.state === 'listed' && part.era === 'modern';
}

function namesOf(members: readonly Member[], kind: 'tools' | 'prompts', naming: Naming): NameTable {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const upstreams = members.map(({ key, prefix, part }) => {
    return { upstream: key, prefix, originals: listsOf(part)[kind].map((definition) => definition.original) };
  });
  return publicNames(upstreams, { ...naming, hash });
}

function named(members: readonly Member[], kind: 'tools' | 'prompts', table: NameTable): Item[] {
  const items = members.flatMap(({ key, part }) =>
    listsOf(part)[kind].flatMap((definition) => {
      const name = table.publicOf(key, definition.original);
      return name === undefined ? [] : [itemOf(key, definition, name, kind === 'tools' && isModern(part))];
    }),
  );
  return sorted(items);
}

function held(members: readonly Member[], kind: 'resources' | 'templates', holders: Holders): Item[] {
  const items = members.flatMap(({ key, part }) =>
    listsOf(part)
      [kind].filter(({ original }) => holders.get(original) === key)
      .map((definition) => itemOf(key, definition, definition.original)),
  );
  return sorted(items);
}

/** What a definition became in the last merge: all but those of the upstream that changed are the same in the next. */
const made = new WeakMap<Definition, Item>();
/** The same of tools of modern upstreams, which handshake clients read otherwise. */
const madeModern = new WeakMap<Definition, Item>();

function itemOf(upstream: string, definition: Definition, key: string, modernTool = false): Item {
  const known = modernTool ? madeModern : made;
  const before = known.get(definition);
  if (before?.key === key && before.upstream === upstream) return before;
  const { original } = definition;
  const text = key === original ? definition.text : publicText(definition, key);
  const handshakeText = modernTool ? handshakeDefinition(text) : text;
  const item = { upstream, original, key, text, handshakeText, digest: digestOf(`${definition.digest}\0${key}`) };
  known.set(definition, item);
  return item;
}

function sorted(items: Item[]): Item[] {
  return items.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function claims(members: readonly Member[], kind: 'resources' | 'templates') {
  return members.map(({ key, part, reach }) => {
    const within = kind === 'resources' ? reach.uri : reach.template;
    const uris = listsOf(part)[kind].map((definition) => definition.original);
    return { upstream: key, uris: uris.filter((uri) => within(uri)) };
  });
}

function claimantOf({ key, part, reach }: Member): Claimant {
  const lists = listsOf(part);
  return {
    upstream: key,
    mayOwn: reach,
    hasResources: isObject(capabilitiesOf(part)?.resources),
    uris: lists.resources.map((definition) => definition.original),
    templates: lists.templates.map((definition) => definition.original),
  };
}

/** Capabilities are announced by an object, be it an empty one. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
