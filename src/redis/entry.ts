import type { Change } from '../ports/bus.ts';
import type { Mac } from '../ports/mac.ts';
import type { Reply } from './connection.ts';

/** Something changed; or, where changes were lost before they could be told, everything may have. */
export type Hint = Change | { readonly kind: 'everything' };

/** One entry of the stream: a hint, by whom, and which of theirs. */
export interface Entry {
  /** Identity of the publishing process. */
  readonly from: string;
  /** Counts that process's entries from 1. */
  readonly number: number;
  readonly hint: Hint;
}

const VERSION = '1';
/** UTF-16 units of a URI as JSON text: a longer one is not carried, nor read. */
const MAX_URI = 16 * 1024;
const NAMES = ['version', 'from', 'number', 'kind', 'upstream', 'uri', 'mac'] as const;
const IDENTITY = /^[A-Za-z0-9_-]{22}$/;
const UPSTREAM = /^[a-z0-9-]{1,24}$/;
const NUMBER = /^[1-9]\d{0,14}$/;

/** Entries of one stream, each with a MAC over all it says and over the stream's name. */
export class Entries {
  readonly #stream: string;
  readonly #mac: Mac;

  constructor(stream: string, mac: Mac) {
    this.#stream = stream;
    this.#mac = mac;
  }

  /** Names and values as XADD takes them. */
  write({ from, number, hint }: Entry): string[] {
    const upstream = hint.kind === 'everything' ? '' : hint.upstream;
    const values = [
      VERSION,
      from,
      String(number),
      hint.kind,
      upstream,
      hint.kind === 'updated' ? uriText(hint.uri) : '',
    ];
    const signed = [...values, this.#mac.sign(this.#text(values))];
    return NAMES.flatMap((name, at) => [name, signed[at] ?? '']);
  }

  /** Undefined for what no replica wrote. */
  read(fields: Reply | undefined): Entry | undefined {
    const values = valuesOf(fields);
    const [version, from = '', number = '', kind = '', upstream = '', uri = '', mac = ''] = values ?? [];
    if (values === undefined || version !== VERSION || !IDENTITY.test(from) || !NUMBER.test(number)) return undefined;
    const hint = hintOf(kind, upstream, uri);
    if (hint === undefined || !this.#mac.verify(this.#text(values.slice(0, -1)), mac)) return undefined;
    return { from, number: Number(number), hint };
  }

  #text(values: readonly string[]): string {
    return JSON.stringify([this.#stream, ...values]);
  }
}

/** Whether an entry can say it. */
export function fitsEntry(change: Change): boolean {
  return change.kind !== 'updated' || uriText(change.uri).length <= MAX_URI;
}

/** JSON has a spelling for every text; UTF-8 has none for half a surrogate pair. */
function uriText(uri: string): string {
  return JSON.stringify(uri);
}

function valuesOf(fields: Reply | undefined): string[] | undefined {
  if (!Array.isArray(fields) || fields.length !== NAMES.length * 2) return undefined;
  const values = NAMES.map((name, at) => (fields[at * 2] === name ? fields[at * 2 + 1] : undefined));
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === NAMES.length ? texts : undefined;
}

function hintOf(kind: string, upstream: string, uri: string): Hint | undefined {
  if (kind === 'everything') return upstream === '' && uri === '' ? { kind } : undefined;
  if (!UPSTREAM.test(upstream)) return undefined;
  if (kind === 'tools' || kind === 'resources' || kind === 'prompts')
    return uri === '' ? { kind, upstream } : undefined;
  const read = kind === 'updated' && uri.length <= MAX_URI ? readUri(uri) : undefined;
  return read === undefined ? undefined : { kind: 'updated', upstream, uri: read };
}

function readUri(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
