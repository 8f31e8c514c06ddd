import type { View } from '../catalogue/view.ts';
import type { ItemKind, ListKind } from '../ports/meter.ts';
import type { ServerCapabilities } from '../protocol/capabilities.ts';
import { field, type Request, stringField } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { INVALID_PARAMS, type WireError } from '../protocol/errors.ts';
import { NOT_FOUND } from './admit.ts';

const LIST_METHODS = new Map<string, ItemKind>([
  ['tools/list', 'tools'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'templates'],
  ['prompts/list', 'prompts'],
]);

const BAD_CURSOR = { code: INVALID_PARAMS, message: 'Invalid cursor' };

/** The page a list request asks for, as the JSON text of its result. A kind this view does not announce is no method. */
export function listPage(
  request: Request,
  view: View,
  era: Era,
): { readonly text: string } | { readonly refuse: WireError } {
  const kind = LIST_METHODS.get(request.method);
  if (kind === undefined || !view.has(kind)) return { refuse: NOT_FOUND };
  if (field(request.params, 'cursor') === undefined) return pageAt(view, kind, era);
  const cursor = stringField(request.text, request.params, 'cursor');
  return cursor === undefined ? { refuse: BAD_CURSOR } : pageAt(view, kind, era, cursor);
}

function pageAt(view: View, kind: ItemKind, era: Era, cursor?: string) {
  const page = view.page(kind, era, cursor);
  return page === 'bad_cursor' ? { refuse: BAD_CURSOR } : page;
}

/** What a client was last told of its lists: it hears of a change once, and only where its own view changed. */
export class ListMemory {
  private readonly told = new Map<ListKind, string>();

  /** From here on the client counts on being told, for the kinds announced with listChanged. */
  announce(capabilities: ServerCapabilities, view: View): void {
    this.told.clear();
    for (const kind of ['tools', 'resources', 'prompts'] as const) {
      if (capabilities[kind] !== undefined) this.told.set(kind, view.digest(kind));
    }
  }

  /** True, once, if the view of this kind differs from what the client knows of. */
  changed(kind: ListKind, view: View): boolean {
    const before = this.told.get(kind);
    if (before === undefined) return false;
    const now = view.digest(kind);
    this.told.set(kind, now);
    return now !== before;
  }
}
