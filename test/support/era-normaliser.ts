/**
 * What the two eras say differently of one and the same thing. A client of either has these off before a test compares
 * them; whatever else differs is a fault.
 *
 * | taken off | where | why it says nothing of the call |
 * |---|---|---|
 * | `resultType: "complete"` | every modern result | the handshake era has no other kind of result |
 * | `ttlMs: 0`, `cacheScope: "private"` | modern lists, reads and discovery | the gateway lets nothing be cached; the handshake era has no word for it |
 * | `_meta["io.modelcontextprotocol/serverInfo"]` | modern results | a handshake server says it once, in `initialize` |
 * | `_meta["io.modelcontextprotocol/subscriptionId"]` | modern news | the handshake era has one stream of news a connection |
 * | `_meta` itself | where nothing else is in it | it is there only to hold the above |
 *
 * A member with any other value stays, and so is seen.
 */
export function withoutEra(value: object): object {
  const kept = Object.entries(value).filter(([key, held]) => ONLY_MODERN.get(key) !== held);
  const { _meta: meta, ...rest } = Object.fromEntries(kept);
  if (typeof meta !== 'object' || meta === null) return Object.fromEntries(kept);
  const metaKept = Object.entries(meta).filter(([key]) => !MODERN_META.has(key));
  return metaKept.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(metaKept) };
}

const ONLY_MODERN = new Map<string, unknown>([
  ['resultType', 'complete'],
  ['ttlMs', 0],
  ['cacheScope', 'private'],
]);

const MODERN_META = new Set(['io.modelcontextprotocol/serverInfo', 'io.modelcontextprotocol/subscriptionId']);
