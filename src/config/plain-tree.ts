import type { Mapping, Path, Problem } from './problem.ts';
import { type Sources, substitute } from './substitute.ts';

/** A parsed file with every text value substituted. */
export interface PlainTree {
  readonly tree: unknown;
  readonly problems: readonly Problem[];
  /** Texts that substitution changed: they may be secrets. */
  readonly substituted: ReadonlySet<string>;
}

const MAX_DEPTH = 32;

/**
 * Turns Maps into mappings and substitutes in text values, never in keys. An entry whose text cannot be had stays as it
 * is, with a problem. A key that would not survive as a property is a problem and left out.
 */
export function plainTree(parsed: unknown, sources: Sources): PlainTree {
  const problems: Problem[] = [];
  const substituted = new Set<string>();
  const around = new Set<object>();

  function walk(value: unknown, path: Path): unknown {
    if (path.length > MAX_DEPTH) return refuse(path, 'is nested too deep');
    if (typeof value === 'string') return replaced(value, path);
    if (typeof value !== 'object' || value === null) return value;
    if (around.has(value)) return refuse(path, 'holds itself through an alias');
    around.add(value);
    const result = value instanceof Map ? mapping(value, path) : sequence(value, path);
    around.delete(value);
    return result;
  }

  function sequence(items: unknown, path: Path): unknown {
    return Array.isArray(items) ? items.map((item, index) => walk(item, [...path, index])) : items;
  }

  function mapping(entries: ReadonlyMap<unknown, unknown>, path: Path): Mapping {
    const result: Mapping = {};
    for (const [name, value] of entries) {
      const key = String(name);
      if (key === '__proto__') refuse([...path, key], 'is not a key; remove it');
      else result[key] = walk(value, [...path, key]);
    }
    return result;
  }

  function replaced(text: string, path: Path): string {
    const result = substitute(text, sources);
    if (!result.ok) return refuse(path, result.problem) ?? text;
    if (result.text !== text) substituted.add(result.text);
    return result.text;
  }

  function refuse(path: Path, text: string): undefined {
    problems.push({ path, text });
  }

  return { tree: walk(parsed, []), problems, substituted };
}
