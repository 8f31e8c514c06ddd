import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { crossChecks, idleKeys } from './checks.ts';
import { layOver, type Overrides, originOf, readOverrides } from './environment.ts';
import { exposure } from './exposure.ts';
import { fingerprint } from './fingerprint.ts';
import { readHostEntries } from './host-files.ts';
import { knownKeys } from './known-keys.ts';
import { resolvePaths } from './paths.ts';
import { plainTree } from './plain-tree.ts';
import { isMapping, type Mapping, type Problem, pathText, valueAt } from './problem.ts';
import { type Config, configSchema } from './schema.ts';
import { problemsOf, sentenceOf } from './sentences.ts';
import type { Sources } from './substitute.ts';
import { takeUnbuilt } from './unbuilt.ts';
import { parseYaml } from './yaml-text.ts';

const KEYS = knownKeys();

type Environment = Readonly<Record<string, string | undefined>>;

export type Loaded =
  /** `hash` tells configurations apart and is fit to be published. */
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[]; readonly hash: string }
  /** At least one sentence; none quotes a value. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads, substitutes, overrides and judges the configuration. Never throws. */
export function loadConfig(file: string, env: Environment): Loaded {
  const read = readText(resolve(file));
  if ('fault' in read)
    return { ok: false, problems: [`the configuration file ${file} cannot be read (${read.fault})`] };
  return loadConfigText(read.text, file, env);
}

/** The same for a text that stands in `file`: relative paths begin at its directory. */
export function loadConfigText(text: string, file: string, env: Environment): Loaded {
  const parsed = parseYaml(text);
  if (!parsed.ok) return { ok: false, problems: [`${file}: ${parsed.problem}`] };
  const directory = dirname(resolve(file));
  const { tree, problems, substituted } = plainTree(parsed.tree ?? new Map(), sourcesOf(directory, env));
  if (!isMapping(tree)) return { ok: false, problems: [`the configuration must be a mapping of keys to values`] };
  return judge({ tree, problems, substituted, order: serverOrder(parsed.tree), directory }, readOverrides(env, KEYS));
}

interface Draft {
  readonly tree: Mapping;
  readonly problems: readonly Problem[];
  readonly substituted: ReadonlySet<string>;
  readonly order: readonly string[];
  readonly directory: string;
}

function judge(draft: Draft, overrides: Overrides): Loaded {
  const { tree } = draft;
  layOver(tree, overrides.values);
  const entries = readHostEntries(tree.mcpServers);
  if (entries.servers !== undefined) tree.mcpServers = entries.servers;
  const early = [
    ...draft.problems.filter((problem) => !isWithin(problem, entries.disabled)),
    ...entries.problems,
    ...takeUnbuilt(tree),
  ];
  const parsed = configSchema.safeParse(tree);
  const found = parsed.success ? crossChecks(parsed.data) : problemsOf(parsed.error.issues, tree, KEYS);
  const sentences = [
    ...overrides.problems,
    ...onceEach([...early, ...found]).map((problem) => sentenceOf(problem, originOf(problem.path, overrides.values))),
  ];
  if (!parsed.success || sentences.length > 0) return { ok: false, problems: sentences };
  const config = inOrder(parsed.data, draft.order);
  const warnings = [
    ...entries.warnings,
    ...idleKeys(config, (path) => valueAt(tree, path) !== undefined),
    ...exposure(config),
  ];
  return {
    ok: true,
    config: resolvePaths(config, draft.directory),
    warnings,
    hash: fingerprint(config, draft.substituted),
  };
}

/** One sentence a place: what is wrong with a value that could not be had is not worth a second one. */
function onceEach(problems: readonly Problem[]): Problem[] {
  const places = new Set<string>();
  return problems.filter(({ path }) => {
    const place = pathText(path);
    return !places.has(place) && places.add(place);
  });
}

function isWithin({ path }: Problem, servers: readonly string[]): boolean {
  return path[0] === 'mcpServers' && servers.includes(String(path[1]));
}

/** Properties called like numbers come first in an object; the file's order decides who owns a name. */
function serverOrder(parsed: unknown): string[] {
  const servers: unknown = parsed instanceof Map ? parsed.get('mcpServers') : undefined;
  return servers instanceof Map ? [...servers.keys()].map(String) : [];
}

function inOrder(config: Config, order: readonly string[]): Config {
  const place = (key: string): number => order.indexOf(key);
  return { ...config, mcpServers: config.mcpServers.toSorted((a, b) => place(a.key) - place(b.key)) };
}

function sourcesOf(directory: string, env: Environment): Sources {
  return {
    variable: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    file: (path) => readText(resolve(directory, path)),
  };
}

function readText(path: string): { text: string } | { fault: string } {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { fault: error instanceof Error && 'code' in error ? String(error.code) : 'unreadable' };
  }
}
