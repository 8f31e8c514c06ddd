import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { crossesEdges, isAtOrBelow, isPure, placeOf } from './layout.ts';
import { identifier, importsOf, isNode, literal, type Node, namedProperty, type Visit, visits } from './syntax.ts';

/** A source file as the rows judge it; `path` is relative to `src/`. */
interface File {
  readonly path: string;
  readonly nodes: readonly Visit[];
  /** Relative imports, as paths in `src/`. */
  readonly inner: readonly string[];
  /** Bare imports, as written. */
  readonly outer: readonly string[];
}

/** One row broken by one file: `what` names the import or the word. */
export interface Violation {
  readonly row: Row;
  readonly what: string;
}

export type Row = keyof typeof ROWS;

/** Judges one file of `src/` by every row. Throws where the text is not TypeScript. */
export function judge(path: string, source: string): Violation[] {
  const nodes = visits(source);
  const imports = importsOf(nodes);
  const file: File = {
    path,
    nodes,
    inner: imports.filter(isRelative).map((to) => posix.join(posix.dirname(path), to)),
    outer: imports.filter((to) => !isRelative(to)),
  };
  return rowNames().flatMap((row) => ROWS[row](file).map((what) => ({ row, what })));
}

export function rowNames(): Row[] {
  return Object.keys(ROWS).filter((name): name is Row => name in ROWS);
}

/** Each row returns what breaks it. */
const ROWS = {
  'every file has a place in the drawing': ({ path }: File) => (placeOf(path) === undefined ? [path] : []),

  'file names say the idea': ({ path }: File) =>
    path.split('/').filter((part) => /^(utils?|helpers?|commons?|types?|misc)\b/.test(part)),

  'an import goes to its own folder or below': ({ path, inner }: File) =>
    inner.filter((to) => !isAtOrBelow(placeOf(path) ?? '', placeOf(to) ?? '')),

  'edges know each other only through ports': ({ path, inner }: File) =>
    inner.filter((to) => crossesEdges(placeOf(path) ?? '', placeOf(to) ?? '')),

  'nobody imports demo': ({ path, inner }: File) =>
    inner.filter((to) => placeOf(path) !== 'demo' && placeOf(to) === 'demo'),

  'ports hold types only': ({ path, nodes }: File) =>
    placeOf(path) === 'ports' ? nodes.filter(isRuntimeStatement).map(({ node }) => node.type) : [],

  'SDK packages only in session adapters, upstream/module and demo': packages(
    (name) => name.startsWith('@modelcontextprotocol/'),
    /^(session\/[^/]*-adapter\.ts|upstream\/module[^/]*\.ts|demo\/)/,
  ),

  'ws only in transport/websocket and client': packages(
    (name) => name === 'ws',
    /^(transport\/websocket[^/]*\.ts|client\/)/,
  ),

  'fastify only in http and app': packages(
    (name) => name === 'fastify' || name.startsWith('@fastify/'),
    /^(http\/|app\.ts$)/,
  ),

  'jose only in auth': packages((name) => name === 'jose', /^auth\//),

  'pino and prom-client only in observe': packages((name) => name === 'pino' || name === 'prom-client', /^observe\//),

  '@redis/client only in redis': packages((name) => name === '@redis/client', /^redis\//),

  'PURE files import PURE files only': ({ path, inner }: File) =>
    isPure(path) ? inner.filter((to) => !isPure(to)) : [],

  'PURE files import no Node API and no package with I/O': ({ path, outer }: File) =>
    isPure(path) ? outer.filter((to) => isBuiltin(to) || !PURE_PACKAGES.has(packageOf(to))) : [],

  'PURE files use no clock, chance, process or network': ({ path, nodes }: File) =>
    isPure(path) ? nodes.flatMap(impureName) : [],

  'nothing outside logging reads clientInfo': ({ path, nodes }: File) =>
    placeOf(path) === 'observe' ? [] : nodes.filter((visit) => !isLogged(visit)).flatMap(clientInfoRead),
} satisfies Record<string, (file: File) => string[]>;

const PURE_PACKAGES = new Set(['zod', 'yaml', '@marcbachmann/cel-js', 'ipaddr.js']);

const IMPURE_GLOBALS = new Set([
  ...['Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval'],
  ...['queueMicrotask', 'process', 'global', 'globalThis', 'Buffer', 'console', 'require', 'crypto'],
  ...['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'Worker'],
]);

function packages(named: (name: string) => boolean, home: RegExp): (file: File) => string[] {
  return ({ path, outer }) => outer.filter((to) => named(packageOf(to)) && !home.test(path));
}

function packageOf(module: string): string {
  const [scope = '', name = ''] = module.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}

function isRelative(module: string): boolean {
  return module.startsWith('.');
}

/** A top-level statement that leaves something behind when types are erased. */
function isRuntimeStatement({ node, parents }: Visit): boolean {
  if (parents.length !== 1 || node.importKind === 'type' || node.exportKind === 'type') return false;
  return node.type !== 'TSInterfaceDeclaration' && node.type !== 'TSTypeAliasDeclaration';
}

/** The forbidden name a node uses, where it stands for the global and not for a property or key. */
function impureName({ node, slot, parents }: Visit): string[] {
  if (isMathRandom(node)) return ['Math.random'];
  const name = identifier(node);
  const parent = parents[0];
  if (name === undefined || parent === undefined || !IMPURE_GLOBALS.has(name)) return [];
  const isPropertyName = (slot === 'key' || slot === 'property') && parent.computed !== true;
  return isPropertyName ? [] : [name];
}

function isMathRandom(node: Node): boolean {
  if (node.type !== 'MemberExpression' || identifier(node.object) !== 'Math') return false;
  return namedProperty(node.property, node.computed) === 'random';
}

/** A read: member access, destructuring, a look-up by key, or the SDK's accessor. Object keys that write it pass. */
function clientInfoRead({ node, slot, parents }: Visit): string[] {
  if (node.type === 'MemberExpression') return named(namedProperty(node.property, node.computed));
  if (node.type === 'Property' && parents[0]?.type === 'ObjectPattern') {
    return named(namedProperty(node.key, node.computed));
  }
  return slot === 'arguments' && parents[0]?.type === 'CallExpression' ? named(literal(node)) : [];
}

function named(property: string | undefined): string[] {
  return property !== undefined && /(^|\/)clientInfo$|^getClientVersion$/.test(property) ? [property] : [];
}

/** Whether a node stands in the arguments of a call on a log: `log.info(…)`, `this.log.child(…)`. */
function isLogged({ parents }: Visit): boolean {
  return parents.some(({ type, callee }) => {
    if (type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression') return false;
    const target = callee.object;
    const log = identifier(target) ?? (isNode(target) ? namedProperty(target.property, target.computed) : undefined);
    return log === 'log' && /^(debug|info|warn|error|child)$/.test(identifier(callee.property) ?? '');
  });
}
