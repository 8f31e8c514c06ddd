import type { z } from 'zod';
import type { KnownKey } from './known-keys.ts';
import { nearest } from './nearest.ts';
import { type Path, type Problem, pathText, valueAt } from './problem.ts';

type Issue = z.core.$ZodIssue;

const EXPECTED = new Map([
  ['array', 'a list'],
  ['boolean', 'true or false'],
  ['int', 'a whole number'],
  ['number', 'a number'],
  ['object', 'a mapping'],
  ['record', 'a mapping'],
  ['string', 'text'],
]);

/** Words what the schema found wrong in `tree`. Names keys and kinds and never quotes a value. */
export function problemsOf(issues: readonly Issue[], tree: unknown, keys: readonly KnownKey[]): Problem[] {
  return issues.flatMap((issue) => problemOf(issue, [], tree, keys));
}

function problemOf(issue: Issue, base: Path, tree: unknown, keys: readonly KnownKey[]): Problem[] {
  const path = [...base, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key], keys));
  if (issue.code === 'invalid_union') {
    const inside = issue.errors.find((branch) =>
      branch.some((nested) => nested.path.length > 0 || nested.code === 'unrecognized_keys'),
    );
    if (inside !== undefined && inside.length > 0)
      return inside.flatMap((nested) => problemOf(nested, path, tree, keys));
  }
  return [{ path, text: valueAt(tree, path) === undefined ? missing(issue, path, keys) : fragment(issue) }];
}

function fragment(issue: Issue): string {
  if (issue.code === 'invalid_type') return `must be ${EXPECTED.get(issue.expected) ?? issue.expected}`;
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? 'is not a valid name';
  return issue.message;
}

/** What is not in the file is missing, unless a rule between keys speaks: only the kinds of schema-kinds.ts carry `kind`. */
function missing(issue: Issue, path: Path, keys: readonly KnownKey[]): string {
  if (issue.code === 'custom' && issue.params?.kind === undefined) return issue.message;
  const kind = keys.find((key) => matches(key.path, path))?.kind;
  return kind === undefined ? 'is required' : `is required: ${kind}`;
}

/** Looks among the keys of the same mapping first, then for the same name elsewhere. */
function unknownKey(path: Path, keys: readonly KnownKey[]): Problem {
  const name = String(path.at(-1));
  const parent = path.slice(0, -1);
  const siblings = keys.filter((key) => key.path.length === path.length && matches(key.path.slice(0, -1), parent));
  const sibling = siblings.find((key) => key.path.at(-1) === name);
  if (sibling !== undefined)
    return {
      path,
      text: `does not apply to this kind of ${parent[0] === 'mcpServers' ? 'upstream' : 'entry'}; remove it`,
    };
  const close = nearest(
    name,
    siblings.map((key) => key.path.at(-1) ?? ''),
  );
  const elsewhere = keys.find((key) => key.path.at(-1) === name && !key.path.includes('*'))?.path;
  const hint = close === undefined ? elsewhere : [...parent, close];
  return { path, text: hint === undefined ? UNKNOWN : `${UNKNOWN}; did you mean \`${pathText(hint)}\`?` };
}

const UNKNOWN = 'unknown key';

function matches(pattern: readonly string[], path: Path): boolean {
  return pattern.length === path.length && pattern.every((step, index) => step === '*' || step === path[index]);
}

/** The sentence for one problem; `origin` says where else than in the file the value came from. */
export function sentenceOf({ path, text }: Problem, origin: string): string {
  const where = pathText(path);
  if (text.startsWith(UNKNOWN)) return `${UNKNOWN} \`${where}\`${text.slice(UNKNOWN.length)}`;
  return path.length === 0 ? `the configuration ${text}` : `${where}${origin} ${text}`;
}
