import type { Member, ObjectNode } from './json-text.ts';

/** The keys the gateway reads, by object. A key that equals one of them only under case folding makes the message ambiguous. */
const READ_KEYS = {
  root: ['jsonrpc', 'id', 'method', 'params', 'result', 'error'],
  params: [
    'name',
    'uri',
    'arguments',
    '_meta',
    'ref',
    'argument',
    'context',
    'cursor',
    'requestId',
    'progressToken',
    'progress',
    'level',
    'task',
    'protocolVersion',
    'capabilities',
    'clientInfo',
    'inputResponses',
    'requestState',
    'notifications',
  ],
  meta: [
    'progressToken',
    'io.modelcontextprotocol/protocolVersion',
    'io.modelcontextprotocol/clientCapabilities',
    'io.modelcontextprotocol/clientInfo',
    'io.modelcontextprotocol/logLevel',
    'io.modelcontextprotocol/subscriptionId',
  ],
  ref: ['type', 'name', 'uri'],
  result: ['_meta', 'isError', 'resultType', 'structuredContent', 'nextCursor', 'inputRequests', 'requestState'],
  error: ['code', 'message', 'data'],
} as const;

const EXACT = new Map(Object.entries(READ_KEYS).map(([object, keys]) => [object, new Set<string>(keys)]));
const FOLDED = new Map(Object.entries(READ_KEYS).map(([object, keys]) => [object, new Set(keys.map(fold))]));

/** A longer key folds to none of them: folding never shortens a text. */
const LONGEST_KEY = Math.max(...Object.values(READ_KEYS).flatMap((keys) => keys.map((key) => key.length)));

/**
 * True if some object the gateway reads has a key twice in any spelling, or one that another reader, folding case, might
 * take for a key we read: what we judge and what an upstream reads could then differ.
 */
export function ambiguous(root: ObjectNode): boolean {
  if (repeatsOrFolds(root, 'root')) return true;
  for (const { key, inner } of root.members) {
    if (inner === undefined) continue;
    if (repeatsOrFolds(inner, key)) return true;
    for (const below of inner.members) {
      if (below.inner !== undefined && repeatsOrFolds(below.inner, below.key === '_meta' ? 'meta' : below.key))
        return true;
    }
  }
  return false;
}

function repeatsOrFolds(node: ObjectNode, object: string): boolean {
  const { members } = node;
  if (members.length > 1 && hasRepeat(members)) return true;
  const exact = EXACT.get(object);
  const folded = FOLDED.get(object);
  for (const { key } of members) {
    if (exact?.has(key) !== true && key.length <= LONGEST_KEY && folded?.has(fold(key)) === true) return true;
  }
  return false;
}

function hasRepeat(members: readonly Member[]): boolean {
  if (members.length > 8) return new Set(members.map((m) => m.key)).size !== members.length;
  for (let at = 1; at < members.length; at += 1) {
    for (let before = 0; before < at; before += 1) if (members[before]?.key === members[at]?.key) return true;
  }
  return false;
}

/** Case folding at least as wide as any JSON library's: long s and the Kelvin sign fold too. */
export function fold(key: string): string {
  return key.toUpperCase().toLowerCase();
}
