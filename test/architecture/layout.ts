/**
 * The drawing of DESIGN's Layout, top to bottom. An import goes to its own place or to a lower line. The drawing's line
 * of pure folders is in the order they use each other: config's schema describes rules, rules judge principals.
 */
const LINES: readonly (readonly string[])[] = [
  ['main'],
  ['cli'],
  ['app'],
  ['http'],
  ['session'],
  ['catalogue', 'fanout', 'redis'],
  ['upstream'],
  ['auth'],
  ['transport'],
  ['client'],
  ['observe'],
  ['ports'],
  ['protocol'],
  ['config'],
  ['policy'],
  ['auth/principal'],
  ['demo'],
];

const LINE_OF = new Map(LINES.flatMap((places, line) => places.map((place) => [place, line] as const)));

/** Places that know each other only through `ports/`. */
const EDGES = new Set(['upstream', 'auth', 'transport', 'client', 'catalogue', 'fanout', 'redis', 'observe']);

/** The edges that may be imported by another edge. */
const EDGE_TO_EDGE = new Map([['upstream', new Set(['transport', 'client'])]]);

/** Files of `config/` that meet the outside or compute with Node's own functions: files, environment, hashes, paths. */
const IMPURE_CONFIG = /^config\/(load|environment|fingerprint|paths)\b/;

/** The place of a file of `src/` (path relative to it, `/` between folders), or undefined where the drawing has none. */
export function placeOf(path: string): string | undefined {
  if (path === 'auth/principal.ts') return 'auth/principal';
  const place = path.includes('/') ? path.slice(0, path.indexOf('/')) : path.replace(/\.ts$/, '');
  return LINE_OF.has(place) ? place : undefined;
}

/** Whether the drawing lets `from` import `to`. */
export function isAtOrBelow(from: string, to: string): boolean {
  return from === to || (LINE_OF.get(to) ?? -1) > (LINE_OF.get(from) ?? LINES.length);
}

/** Whether the import crosses from one edge into another without leave. */
export function crossesEdges(from: string, to: string): boolean {
  if (from === to || !EDGES.has(from) || !EDGES.has(to)) return false;
  return EDGE_TO_EDGE.get(from)?.has(to) !== true;
}

/** Whether a file is held to values in, value out: no Node API, clock, I/O or logger. */
export function isPure(path: string): boolean {
  const place = placeOf(path);
  if (place === 'config') return !IMPURE_CONFIG.test(path);
  return place !== undefined && PURE.has(place);
}

const PURE = new Set(['protocol', 'policy', 'auth/principal']);
