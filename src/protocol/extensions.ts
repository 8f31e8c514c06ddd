import { OWN_EXTENSIONS } from './token-extension.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue;
}

/** What a peer announces beyond the capabilities of its revision, by name; the values are its own. */
export interface Extensions {
  /** MCP 2024-11-05 onwards. */
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** By reverse-DNS name (MCP 2026-07-28; peers of 2025-11-25 announce them too). */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
}

export interface Carried {
  readonly carried: Extensions;
  /** Members left out because they are no objects or beyond what is carried. */
  readonly dropped: number;
}

/** Of one peer, both members together. A value nests no deeper than this: readers of capabilities recurse. */
const MAX_KEYS = 64;
const MAX_BYTES = 16 * 1024;
const MAX_DEPTH = 32;

/** The gateway would have to do these itself, in either member; its own are no upstream's either. */
const NOT_CARRIED = new Set(['io.modelcontextprotocol/tasks']);

/** The part of a peer's `capabilities`, a value that JSON.parse made, that is passed on. */
export function carriedExtensions(capabilities: unknown): Carried {
  const room = { keys: MAX_KEYS, bytes: MAX_BYTES };
  const extensions = carriedMember(capabilities, 'extensions', room);
  const experimental = carriedMember(capabilities, 'experimental', room);
  return {
    carried: {
      ...(experimental.kept.length > 0 && { experimental: Object.fromEntries(experimental.kept) }),
      ...(extensions.kept.length > 0 && { extensions: Object.fromEntries(extensions.kept) }),
    },
    dropped: extensions.dropped + experimental.dropped,
  };
}

/** Of several peers, the first that announces a name says what it means. */
export function unitedExtensions(all: readonly Extensions[]): Extensions {
  const experimental = united(all.map((each) => each.experimental));
  const extensions = united(all.map((each) => each.extensions));
  return { ...(experimental && { experimental }), ...(extensions && { extensions }) };
}

function united(all: readonly (Readonly<Record<string, JsonObject>> | undefined)[]) {
  const found = new Map<string, JsonObject>();
  for (const [key, value] of all.flatMap((each) => Object.entries(each ?? {}))) {
    if (!found.has(key)) found.set(key, value);
  }
  return found.size === 0 ? undefined : Object.fromEntries(found);
}

function carriedMember(capabilities: unknown, name: keyof Extensions, room: { keys: number; bytes: number }) {
  const member = isJsonObject(capabilities) ? capabilities[name] : undefined;
  const kept: [string, JsonObject][] = [];
  let dropped = 0;
  for (const [key, value] of isJsonObject(member) ? Object.entries(member) : []) {
    if (NOT_CARRIED.has(key) || key.startsWith(OWN_EXTENSIONS)) continue;
    const bytes = sizeOf(key, value);
    if (isJsonObject(value) && room.keys > 0 && bytes <= room.bytes) {
      room.keys -= 1;
      room.bytes -= bytes;
      kept.push([key, value]);
    } else dropped += 1;
  }
  return { kept, dropped };
}

/** Bytes of JSON text; infinite for what nests too deep. */
function sizeOf(key: string, value: JsonValue): number {
  if (isDeep(value)) return Number.POSITIVE_INFINITY;
  return new TextEncoder().encode(JSON.stringify({ [key]: value })).length;
}

/** Level by level: what nests too deep must not be walked by recursion, as writing it does. */
function isDeep(value: JsonValue): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    level = level.flatMap((each) => (isNested(each) ? Object.values(each) : [])).filter(isNested);
    if (level.length === 0) return false;
  }
  return true;
}

function isNested(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
