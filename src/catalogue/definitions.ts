import { createHash } from 'node:crypto';
import type { ItemKind } from '../ports/meter.ts';
import { fold } from '../protocol/ambiguity.ts';
import { field, stringField } from '../protocol/envelope.ts';
import { JsonText, type ObjectNode, type Span } from '../protocol/json-text.ts';
import type { Mirrors } from '../protocol/mirrors.ts';

/** One tool, resource, resource template or prompt, as its upstream wrote it. */
export interface Definition {
  /** What the upstream knows it by: the name, URI or URI template, decoded. */
  readonly original: string;
  /** The upstream's own text, raw CR and LF made spaces. */
  readonly text: string;
  /** Where in `text` the value stands that holds `original`. */
  readonly nameAt: Span;
  /** Short hash of `text`; two definitions with one digest are the same. */
  readonly digest: string;
  /** Of a tool, where its upstream wants parameters repeated beside a call. */
  readonly mirrors?: Mirrors;
}

export interface ListPage {
  readonly items: readonly Definition[];
  /** One for each element left out; it hides nothing else. */
  readonly skipped: readonly Skipped[];
  /** Undefined on the last page. The empty string is a cursor. */
  readonly nextCursor: string | undefined;
}

export interface Skipped {
  readonly reason: 'not_an_object' | 'no_name' | 'ambiguous' | 'repeated';
}

interface ListForm {
  readonly method: string;
  /** Member of the result that holds the elements. */
  readonly member: string;
  /** Member of an element that identifies it. */
  readonly name: string;
}

/** MCP 2025-11-25, schema.ts: ListToolsResult and its sisters. */
export const LIST_FORMS: Readonly<Record<ItemKind, ListForm>> = {
  tools: { method: 'tools/list', member: 'tools', name: 'name' },
  resources: { method: 'resources/list', member: 'resources', name: 'uri' },
  templates: { method: 'resources/templates/list', member: 'resourceTemplates', name: 'uriTemplate' },
  prompts: { method: 'prompts/list', member: 'prompts', name: 'name' },
};

/**
 * Reads one page of a list from the JSON text of its result. Only what identifies an element is looked at: whatever else
 * it holds, a schema nobody can resolve included, is the client's to judge. `taken` holds the originals of earlier pages
 * and takes in those of this one; of two elements with one original the first wins. 'not_a_list' when the result has not
 * exactly one array of this kind.
 */
export function readList(result: string, kind: ItemKind, taken: Set<string> = new Set()): ListPage | 'not_a_list' {
  const text = result.replace(/[\r\n]/g, ' ');
  const json = new JsonText(text);
  const start = json.skipSpace(0);
  if (text[start] !== '{') return 'not_a_list';
  const root = json.object(start);
  const list = only(root, LIST_FORMS[kind].member);
  if (list === undefined || text[list.start] !== '[') return 'not_a_list';
  const read = json.elements(list.start).map((element) => readElement(json, element, kind, taken));
  return {
    items: read.filter((item): item is Definition => !('reason' in item)),
    skipped: read.filter((item): item is Skipped => 'reason' in item),
    nextCursor: only(root, 'nextCursor') && stringField(text, root, 'nextCursor'),
  };
}

/** The definition as clients see it: under its public name, all other text unchanged. */
export function publicText({ text, nameAt }: Definition, publicName: string): string {
  return text.slice(0, nameAt.start) + JSON.stringify(publicName) + text.slice(nameAt.end);
}

/** Short and stable; for telling texts apart, not for secrets. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function readElement(json: JsonText, { start, end }: Span, kind: ItemKind, taken: Set<string>): Definition | Skipped {
  if (json.text[start] !== '{') return { reason: 'not_an_object' };
  const key = LIST_FORMS[kind].name;
  const node = json.object(start);
  const original = stringField(json.text, node, key);
  const name = only(node, key);
  if (name === undefined && countFolded(node, key) > 0) return { reason: 'ambiguous' };
  if (name === undefined || original === undefined) return { reason: 'no_name' };
  if (taken.has(original)) return { reason: 'repeated' };
  taken.add(original);
  const text = json.text.slice(start, end);
  const nameAt = { start: name.start - start, end: name.end - start };
  return { original, text, nameAt, digest: digestOf(text) };
}

/** The member under `key`, unless another's key is equal to it, be it after case folding: some reader would take that one. */
function only(node: ObjectNode, key: string): Span | undefined {
  return countFolded(node, key) === 1 ? field(node, key) : undefined;
}

function countFolded(node: ObjectNode, key: string): number {
  const folded = fold(key);
  return node.members.filter((member) => fold(member.key) === folded).length;
}
