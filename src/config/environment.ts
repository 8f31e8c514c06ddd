import type { KnownKey } from './known-keys.ts';
import { nearest } from './nearest.ts';
import { isMapping, type Mapping, type Path, type Problem } from './problem.ts';

const PREFIX = 'MCP_GW__';

/** Parts of the file whose shape is the operator's own: never set from the environment. */
const FILE_ONLY: readonly string[] = ['policy', 'mcpServers'];

/** What the environment sets, ready to be laid over the file. */
export interface Overrides {
  readonly values: readonly { readonly path: Path; readonly value: string | null; readonly name: string }[];
  readonly problems: readonly string[];
}

/** `limits.pingInterval` as `MCP_GW__LIMITS__PING_INTERVAL`. */
export function variableName(path: readonly string[]): string {
  return PREFIX + path.map((step) => step.replace(/[A-Z]/g, '_$&').toUpperCase()).join('__');
}

/** The keys one environment variable each can set: scalars at a fixed place. */
export function settable(keys: readonly KnownKey[]): ReadonlyMap<string, KnownKey> {
  const fixed = keys.filter((key) => key.scalar && !key.path.includes('*') && !FILE_ONLY.includes(key.path[0] ?? ''));
  return new Map(fixed.map((key) => [variableName(key.path), key]));
}

/** Every variable with the gateway's prefix must be known; the text `null` is null where the key can be. */
export function readOverrides(env: Readonly<Record<string, string | undefined>>, keys: readonly KnownKey[]): Overrides {
  const known = settable(keys);
  const values: { path: Path; value: string | null; name: string }[] = [];
  const problems: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || value === undefined) continue;
    const key = known.get(name);
    if (key === undefined) problems.push(unknownSentence(name, known.keys()));
    else values.push({ path: key.path, value: value === 'null' && key.nullable ? null : value, name });
  }
  return { values, problems };
}

function unknownSentence(name: string, known: Iterable<string>): string {
  const section = FILE_ONLY.find((key) => `${name}__`.startsWith(`${variableName([key])}__`));
  if (section !== undefined) return `environment variable ${name}: ${section} can be set in the file only`;
  if (`${name}__`.startsWith(`${variableName(['auth', 'issuers'])}__`))
    return `environment variable ${name}: auth.issuers can be set in the file only`;
  const close = nearest(name, known);
  return `unknown environment variable ${name}${close === undefined ? '' : `; did you mean ${close}?`}`;
}

/** Sets the overrides in the tree; a mapping on the way takes the place of what is none. */
export function layOver(tree: Mapping, overrides: Overrides['values']): void {
  for (const { path, value } of overrides) {
    let at = tree;
    for (const step of path.slice(0, -1)) at = mappingIn(at, String(step));
    at[String(path.at(-1))] = value;
  }
}

function mappingIn(parent: Mapping, key: string): Mapping {
  const child = parent[key];
  const mapping = isMapping(child) ? child : {};
  parent[key] = mapping;
  return mapping;
}

/** Names the variable a value came from, for the sentence about it. */
export function originOf(path: Path, overrides: Overrides['values']): Problem['text'] {
  const source = overrides.find(
    (entry) => entry.path.length >= path.length && path.every((step, index) => step === entry.path[index]),
  );
  return source === undefined ? '' : ` (from ${source.name})`;
}
