import type { Shape } from './json-text.ts';

/** Parameters of a tool that HTTP repeats in headers (MCP 2026-07-28, Custom Headers from Tool Parameters). */
export interface Mirrors {
  /** Equal for tools that repeat the same parameters under the same names. */
  readonly key: string;
  /** What is read of the arguments. */
  readonly within: Mirrored['within'];
}

/** One parameter, or what leads to it. */
export interface Mirrored extends Shape {
  readonly within: ReadonlyMap<string, Mirrored>;
  /** What the header is called, in lower case; undefined where only something below is repeated. */
  readonly header: string | undefined;
}

/** Why a definition is invalid for HTTP: a sentence for the log, without a word of the upstream's. */
export interface Invalid {
  readonly problem: string;
}

/** One `x-mcp-header`: the `properties` keys that lead from the arguments to its parameter. */
interface Annotation {
  readonly header: string;
  readonly path: readonly string[];
}

/** A schema, and the `properties` keys that lead to it; no path where anything else is on the way. */
interface Place {
  readonly schema: unknown;
  readonly path: readonly string[] | undefined;
}

const KEYWORD = 'x-mcp-header';
/** Whether the text can hold the keyword at all, be it escaped. */
const MENTION = /x-mcp-header|\\u00/;
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES = new Set<unknown>(['string', 'integer', 'boolean']);
const MAX_DEPTH = 100;

/** Keywords beside `properties` that hold a schema or an array of them (JSON Schema 2020-12 and the drafts before). */
const HOLDERS = [
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contentSchema',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
];
/** Those that hold schemas under names. */
const TABLES = ['patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'];

/**
 * What a tool's definition, valid JSON, wants repeated: undefined where nothing. One annotation that is not as it must be
 * makes all of the definition invalid (MCP 2026-07-28, Schema Extension). Data and names in a schema are no annotations.
 */
export function mirrorsOf(definition: string): Mirrors | Invalid | undefined {
  if (!MENTION.test(definition)) return undefined;
  const annotations: Annotation[] = [];
  const places: Place[] = [{ schema: fieldsOf(JSON.parse(definition)).inputSchema, path: [] }];
  for (const place of places) {
    const fields = fieldsOf(place.schema);
    const found = Object.hasOwn(fields, KEYWORD) ? annotationAt(fields, place.path) : undefined;
    if (found !== undefined && 'problem' in found) return found;
    if (found !== undefined) annotations.push(found);
    for (const below of placesBelow(fields, place.path)) places.push(below);
  }
  if (annotations.length === 0) return undefined;
  const names = new Set(annotations.map(({ header }) => header));
  if (names.size < annotations.length) return { problem: 'two parameters have the same x-mcp-header' };
  return { key: JSON.stringify(annotations), within: treeOf(annotations, 0).within };
}

function annotationAt(schema: Readonly<Record<string, unknown>>, path: Place['path']): Annotation | Invalid {
  const name = schema[KEYWORD];
  if (path === undefined || path.length === 0)
    return { problem: 'an x-mcp-header stands where it reaches no parameter' };
  if (typeof name !== 'string' || !TOKEN.test(name)) return { problem: 'an x-mcp-header is no name of a header' };
  if (!TYPES.has(schema.type)) return { problem: 'an x-mcp-header is on what is no string, integer or boolean' };
  return { header: name.toLowerCase(), path };
}

function placesBelow(schema: Readonly<Record<string, unknown>>, path: Place['path']): Place[] {
  const way = path === undefined || path.length === MAX_DEPTH ? undefined : path;
  const reached = Object.entries(fieldsOf(schema.properties)).map(([key, each]) => {
    return { schema: each, path: way === undefined ? undefined : [...way, key] };
  });
  const held = HOLDERS.flatMap((keyword) => schema[keyword] ?? []);
  const listed = TABLES.flatMap((keyword) => Object.values(fieldsOf(schema[keyword])));
  return [...reached, ...[...held, ...listed].map((each) => ({ schema: each, path: undefined }))];
}

/** What leads from `depth` on to these, whose paths are the same up to there. */
function treeOf(annotations: readonly Annotation[], depth: number): Mirrored {
  const below = new Map<string, Annotation[]>();
  for (const annotation of annotations) {
    const key = annotation.path[depth];
    if (key !== undefined) below.set(key, [...(below.get(key) ?? []), annotation]);
  }
  const within = new Map([...below].map(([key, some]) => [key, treeOf(some, depth + 1)]));
  return { header: annotations.find(({ path }) => path.length === depth)?.header, within };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
