/** A package that a package runner fetches, as it is named on the command line, and the same with a version. */
export interface UnpinnedPackage {
  readonly runner: string;
  readonly spec: string;
  readonly pinned: string;
}

interface Runner {
  /** Options whose value names a package; with one of these the first bare word is no package. */
  readonly packages: ReadonlySet<string>;
  /** Options whose value is something else. */
  readonly valued: ReadonlySet<string>;
  isPinned(spec: string): boolean;
  pinned(spec: string): string;
}

const SEMVER = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/;
const COMMIT = /[#@][0-9a-f]{40}\b/;

const NPX: Runner = {
  packages: new Set(['-p', '--package']),
  valued: new Set(['-c', '--call', '-w', '--workspace', '--registry', '--cache', '--prefix']),
  isPinned: (spec) => isLocal(spec) || COMMIT.test(spec) || SEMVER.test(spec.slice(versionAt(spec) + 1)),
  pinned: (spec) => `${spec.slice(0, versionAt(spec))}@1.2.3`,
};

/** PEP 440 `==` names one version unless a star follows; uv also takes `name@version`. */
const UVX: Runner = {
  packages: new Set(['--from', '--with']),
  valued: new Set(['-p', '--python', '--index', '--default-index', '--index-url', '--extra-index-url', '--directory']),
  isPinned: (spec) =>
    isLocal(spec) || COMMIT.test(spec) || /^[\w.-]+(?:\[[\w,.-]+\])?(?:===?|@)\d[\w.+!-]*$/.test(spec),
  pinned: (spec) => `${/^[\w.-]*/.exec(spec)?.[0] ?? ''}==1.2.3`,
};

const RUNNERS = new Map([
  ['npx', NPX],
  ['bunx', NPX],
  ['uvx', UVX],
]);

/**
 * The packages that `npx`, `bunx` or `uvx` would fetch in whatever version is newest that day: a server that was checked
 * once is another tomorrow. An exact version, a commit or a local path is pinned; a range or a tag is not.
 */
export function unpinnedPackages(command: string, args: readonly string[]): UnpinnedPackage[] {
  const name = /[^\\/]*$/.exec(command)?.[0].replace(/\.(?:cmd|exe)$/i, '') ?? '';
  const runner = RUNNERS.get(name);
  if (runner === undefined) return [];
  return packagesOf(runner, args)
    .filter((spec) => !runner.isPinned(spec))
    .map((spec) => ({ runner: name, spec, pinned: runner.pinned(spec) }));
}

/** Options end at the first bare word: what follows belongs to the program that is run. */
function packagesOf(runner: Runner, args: readonly string[]): string[] {
  const named: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    const [option = '', ...value] = arg.split('=');
    if (!arg.startsWith('-') || arg === '--') {
      const word = arg === '--' ? args[at + 1] : arg;
      return named.length > 0 || word === undefined ? named : [word];
    }
    if (runner.packages.has(option)) named.push(value.length > 0 ? value.join('=') : (args[++at] ?? ''));
    else if (runner.valued.has(option) && value.length === 0) at += 1;
  }
  return named;
}

/** Where the `@` of a version stands, the one of a scope apart; the length of the text where there is none. */
function versionAt(spec: string): number {
  const at = spec.indexOf('@', 1);
  return at === -1 ? spec.length : at;
}

function isLocal(spec: string): boolean {
  return /^(?:\.{1,2}[\\/]|[\\/]|~[\\/]|file:|\.$)/.test(spec);
}
