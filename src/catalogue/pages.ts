import type { ItemKind } from '../ports/meter.ts';
import { LIST_FORMS } from './definitions.ts';
import type { Item } from './snapshot.ts';

/** A page holds at most this many items and, unless one item alone is larger, this many bytes of definitions. */
export const PAGE_ITEMS = 1_000;
export const PAGE_BYTES = 1024 * 1024;

export interface Page {
  /** The JSON text of the result. */
  readonly text: string;
}

/** One list of one view, cut into pages. Texts are made when first asked for and kept. */
export class Pages {
  private readonly kind: ItemKind;
  private readonly items: readonly Item[];
  private readonly spelled: (item: Item) => string;
  private readonly kept = new Map<number, Page>();
  /** Where the next page starts for one who began at the first: only such pages are kept, so callers cannot grow it. */
  private readonly walked = new Set([0]);

  constructor(kind: ItemKind, items: readonly Item[], spelled: (item: Item) => string = ({ text }) => text) {
    this.kind = kind;
    this.items = items;
    this.spelled = spelled;
  }

  page(cursor: string | undefined): Page | 'bad_cursor' {
    if (cursor === undefined) return this.from(0);
    const last = readCursor(cursor, this.kind);
    return last === undefined ? 'bad_cursor' : this.from(firstAfter(this.items, last));
  }

  private from(start: number): Page {
    const kept = this.kept.get(start);
    if (kept !== undefined) return kept;
    const end = this.endOf(start);
    const page = { text: this.textOf(start, end) };
    if (this.walked.has(start)) {
      this.kept.set(start, page);
      this.walked.add(end);
    }
    return page;
  }

  private endOf(start: number): number {
    let bytes = 0;
    let end = start;
    while (end < this.items.length && end - start < PAGE_ITEMS) {
      const item = this.items[end];
      bytes += item === undefined ? 1 : Buffer.byteLength(this.spelled(item)) + 1;
      if (bytes > PAGE_BYTES && end > start) break;
      end += 1;
    }
    return end;
  }

  private textOf(start: number, end: number): string {
    const items = this.items.slice(start, end);
    const last = items.at(-1);
    const list = `"${LIST_FORMS[this.kind].member}":[${items.map(this.spelled).join(',')}]`;
    if (last === undefined || end === this.items.length) return `{${list}}`;
    return `{${list},"nextCursor":"${writeCursor(this.kind, last.key)}"}`;
  }
}

/** Names the last key seen, so it outlives any change of the catalogue. It holds nothing its holder has not been shown. */
function writeCursor(kind: ItemKind, key: string): string {
  return Buffer.from(JSON.stringify([kind, key])).toString('base64url');
}

/** Undefined unless it is, to the letter, a cursor written for this kind of list. */
function readCursor(cursor: string, kind: ItemKind): string | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(value) || typeof value[1] !== 'string') return undefined;
    return writeCursor(kind, value[1]) === cursor ? value[1] : undefined;
  } catch {
    return undefined;
  }
}

function firstAfter(items: readonly Item[], key: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.key ?? '') > key) high = middle;
    else low = middle + 1;
  }
  return low;
}
