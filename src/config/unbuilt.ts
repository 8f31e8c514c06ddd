import { isMapping, type Mapping, type Path, type Problem, valueAt } from './problem.ts';

interface Row {
  /** `*` stands for any key or item. */
  readonly key: string;
  /** The values that ask for nothing; null never does. */
  readonly idle?: (value: unknown) => boolean;
}

/**
 * The keys of the contract this version knows and does not act on. Each is refused where the file or the environment
 * sets it to something, so that none is read and ignored. Remove the row when the key gets its meaning.
 */
export const UNBUILT: readonly Row[] = [
  { key: 'timing.resumeWindow', idle: isZero },
  { key: 'audit.arguments', idle: (value) => value === 'none' || value === 'keys' },
  { key: 'audit.redact', idle: isEmpty },
];

/** A sentence for each unbuilt key the tree sets. Takes these keys and their nulls out of the tree, which then holds only what can be judged. */
export function takeUnbuilt(tree: Mapping): Problem[] {
  return UNBUILT.flatMap((row) => placesOf(row.key.split('.'), tree, []).flatMap((path) => judge(row, path, tree)));
}

function judge(row: Row, path: Path, tree: Mapping): Problem[] {
  const value = valueAt(tree, path);
  if (value !== null && row.idle?.(value) === true) return [];
  remove(tree, path);
  return value === null ? [] : [{ path, text: 'is not acted on by this version; remove it' }];
}

function placesOf(pattern: readonly string[], value: unknown, path: Path): Path[] {
  const [step, ...rest] = pattern;
  if (step === undefined) return [path];
  if (Array.isArray(value))
    return step === '*' ? value.flatMap((item, index) => placesOf(rest, item, [...path, index])) : [];
  if (!isMapping(value)) return [];
  const keys = step === '*' ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : [];
  return keys.flatMap((key) => placesOf(rest, value[key], [...path, key]));
}

function remove(tree: Mapping, path: Path): void {
  const parent = valueAt(tree, path.slice(0, -1));
  if (isMapping(parent)) delete parent[String(path.at(-1))];
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isZero(value: unknown): boolean {
  return typeof value === 'string' && /^0+(ms|s|m|h|d)$/.test(value);
}
