import type { Log } from '../ports/log.ts';
import type { ItemKind, ListKind } from '../ports/meter.ts';
import { AnsweredError, METHOD_NOT_FOUND } from '../protocol/errors.ts';
import { type Definition, LIST_FORMS, readList } from './definitions.ts';
import { type RefusedTool, withMirrors } from './mirroring.ts';

/** All definitions of one upstream, in its own order. */
export type UpstreamLists = Readonly<Record<ItemKind, readonly Definition[]>>;

export const NO_LISTS: UpstreamLists = { tools: [], resources: [], templates: [], prompts: [] };

/** What one list may cost. `bytes` counts UTF-16 units of the results read. */
export interface WalkBounds {
  readonly pages: number;
  readonly items: number;
  readonly bytes: number;
}

export const WALK_BOUNDS: WalkBounds = { pages: 1_000, items: 100_000, bytes: 64 * 1024 * 1024 };

/** `Link.ask`: resolves with the JSON text of the result, rejects with a Fault or an AnsweredError. */
export type Ask = (method: string, params?: string) => Promise<string>;

export interface WalkOptions {
  readonly log: Log;
  /** Kept where a list is not walked or fails. */
  readonly previous?: UpstreamLists | undefined;
  /** Which lists to walk (resources include templates); all when absent. */
  readonly kinds?: Iterable<ListKind>;
  /** `Link.mirrors` of the link that is walked. */
  readonly mirrors?: boolean;
  readonly bounds?: WalkBounds;
}

export interface Walked {
  readonly lists: UpstreamLists;
  /** Kinds of which a list got no answer: to be walked again. A list answered with an error is not among them. */
  readonly failed: readonly ListKind[];
}

/** Which kind of change a list belongs to: one notification covers resources and their templates. */
export const LIST_KINDS: Readonly<Record<ItemKind, ListKind>> = {
  tools: 'tools',
  resources: 'resources',
  templates: 'resources',
  prompts: 'prompts',
};

export const ITEM_KINDS: readonly ItemKind[] = ['tools', 'resources', 'templates', 'prompts'];

interface Outcome {
  readonly items: readonly Definition[];
  readonly unanswered: boolean;
}

/**
 * Every page of every list an upstream's capabilities announce. Never rejects: a list that fails keeps its previous
 * definitions and hides no other; one that passes a bound or repeats a cursor keeps what was read. All of it is logged.
 */
export async function walkUpstream(
  ask: Ask,
  capabilities: Readonly<Record<string, unknown>>,
  options: WalkOptions,
): Promise<Walked> {
  const { previous = NO_LISTS, bounds = WALK_BOUNDS, log } = options;
  const wanted = new Set<ListKind>(options.kinds ?? ['tools', 'resources', 'prompts']);
  const walkOne = async (kind: ItemKind): Promise<Outcome> => {
    const announced = capabilities[LIST_KINDS[kind]] !== undefined && capabilities[LIST_KINDS[kind]] !== null;
    if (!announced) return { items: [], unanswered: false };
    if (!wanted.has(LIST_KINDS[kind])) return { items: previous[kind], unanswered: false };
    const mirrors = kind === 'tools' && options.mirrors === true;
    return new ListWalk(ask, kind, { bounds, log, mirrors }).run(previous[kind]);
  };
  const [tools, resources, templates, prompts] = await Promise.all([
    walkOne('tools'),
    walkOne('resources'),
    walkOne('templates'),
    walkOne('prompts'),
  ]);
  const outcomes = { tools, resources, templates, prompts };
  return {
    lists: { tools: tools.items, resources: resources.items, templates: templates.items, prompts: prompts.items },
    failed: [...new Set(ITEM_KINDS.filter((kind) => outcomes[kind].unanswered).map((kind) => LIST_KINDS[kind]))],
  };
}

interface ListWalkOptions {
  readonly bounds: WalkBounds;
  readonly log: Log;
  readonly mirrors: boolean;
}

/** Refused tools that a walk names. */
const MAX_NAMED = 10;
const MAX_NAME = 128;

/** One list, page after page. */
class ListWalk {
  private readonly ask: Ask;
  private readonly kind: ItemKind;
  private readonly bounds: WalkBounds;
  private readonly log: Log;
  private readonly mirrors: boolean;
  private readonly items: Definition[] = [];
  private readonly taken = new Set<string>();
  private readonly cursors = new Set<string>();
  private readonly skipped = new Map<string, number>();
  private pages = 0;
  private bytes = 0;

  constructor(ask: Ask, kind: ItemKind, { bounds, log, mirrors }: ListWalkOptions) {
    this.ask = ask;
    this.kind = kind;
    this.bounds = bounds;
    this.log = log;
    this.mirrors = mirrors;
  }

  async run(previous: readonly Definition[]): Promise<Outcome> {
    try {
      await this.readPages();
      return { items: this.items, unanswered: false };
    } catch (err) {
      return this.failure(err, previous);
    } finally {
      if (this.skipped.size > 0) this.note('definitions_skipped', Object.fromEntries(this.skipped));
    }
  }

  private async readPages(): Promise<void> {
    let cursor: string | undefined;
    do {
      const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
      const text = await this.ask(LIST_FORMS[this.kind].method, params);
      cursor = this.take(text);
      const stop = cursor === undefined ? undefined : this.reasonToStop(cursor);
      if (stop !== undefined)
        return this.note('list_cut', { reason: stop, pages: this.pages, kept: this.items.length });
    } while (cursor !== undefined);
  }

  /** Keeps a page's definitions; returns the cursor of the next. */
  private take(text: string): string | undefined {
    this.pages += 1;
    this.bytes += text.length;
    const page = readList(text, this.kind, this.taken);
    if (page === 'not_a_list') throw new Error('the result is not a list of this kind');
    for (const { reason } of page.skipped) this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + 1);
    const items = this.mirrors ? this.mirrored(page.items) : page.items;
    const kept = items.slice(0, this.bounds.items - this.items.length);
    for (const item of kept) this.items.push(item);
    if (kept.length < items.length) this.skipped.set('too_many', items.length - kept.length);
    return page.nextCursor;
  }

  private mirrored(items: readonly Definition[]): readonly Definition[] {
    const { kept, refused } = withMirrors(items);
    if (refused.length > 0) this.refuse(refused);
    return kept;
  }

  /** The first ones by name (MCP 2026-07-28, Schema Extension), all of them by number. */
  private refuse(refused: readonly RefusedTool[]): void {
    const before = this.skipped.get('invalid_header') ?? 0;
    this.skipped.set('invalid_header', before + refused.length);
    for (const { tool, problem } of refused.slice(0, Math.max(0, MAX_NAMED - before)))
      this.log.warn('tool_refused', { tool: tool.slice(0, MAX_NAME), reason: problem });
  }

  private reasonToStop(cursor: string): string | undefined {
    if (this.cursors.has(cursor)) return 'repeated_cursor';
    this.cursors.add(cursor);
    if (this.pages >= this.bounds.pages) return 'pages';
    if (this.items.length >= this.bounds.items) return 'items';
    return this.bytes >= this.bounds.bytes ? 'bytes' : undefined;
  }

  private failure(err: unknown, previous: readonly Definition[]): Outcome {
    const answered = err instanceof AnsweredError;
    if (answered && this.kind === 'templates' && err.error.code === METHOD_NOT_FOUND) {
      return { items: [], unanswered: false };
    }
    const items = previous.length > 0 ? previous : this.items;
    this.note('list_failed', { err, kept: items.length });
    return { items, unanswered: !answered };
  }

  private note(event: string, fields: Record<string, unknown>): void {
    this.log.warn(event, { kind: this.kind, ...fields });
  }
}
