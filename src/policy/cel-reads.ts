import type { ASTNode } from '@marcbachmann/cel-js';

/** What an expression reads, found in its syntax tree. Names bound by a comprehension count as what they hide. */
export interface Reads {
  /** Paths into `principal`, at most two names long; an empty one is all of it. */
  readonly principal: readonly (readonly string[])[];
  readonly target: boolean;
  readonly arguments: boolean;
  /** Why the expression is refused: something whose cost a caller could choose. */
  readonly refused: string | undefined;
}

/** `ast` as parsed, before it is type-checked: checking rewrites comprehensions. */
export function readsOf(ast: ASTNode): Reads {
  const principal = new Map<string, readonly string[]>();
  const names = new Set<string>();
  let refused: string | undefined;
  const open: Place[] = [{ node: ast, inComprehension: false }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { node } = place;
    refused ??= refusal(place);
    const path = principalPath(node);
    if (path !== undefined) principal.set(JSON.stringify(path), path);
    else if (node.op === 'id') names.add(node.args);
    else open.push(...placesIn(place));
  }
  return {
    principal: [...principal.values()],
    target: names.has('target'),
    arguments: names.has('arguments'),
    refused,
  };
}

interface Place {
  readonly node: ASTNode;
  readonly inComprehension: boolean;
}

const COMPREHENSIONS: readonly string[] = ['all', 'exists', 'exists_one', 'map', 'filter'];

function refusal({ node, inComprehension }: Place): string | undefined {
  if ((node.op === 'call' || node.op === 'rcall') && node.args[0] === 'matches') {
    return 'matches() is not available, its cost has no bound; use startsWith, endsWith or contains.';
  }
  if (!inComprehension) return undefined;
  if (isComprehension(node)) return 'a comprehension inside another is not available.';
  if (node.op === 'in' && readsOf(node.args[1]).arguments) {
    return '"in" over arguments inside a comprehension is not available.';
  }
  return undefined;
}

function isComprehension(node: ASTNode): boolean {
  return node.op === 'rcall' && COMPREHENSIONS.includes(node.args[0]);
}

/** The list a comprehension runs over is outside of it. */
function placesIn({ node, inComprehension }: Place): Place[] {
  if (node.op !== 'rcall' || !isComprehension(node)) {
    return childrenOf(node).map((child) => ({ node: child, inComprehension }));
  }
  const body = node.args[2].map((child) => ({ node: child, inComprehension: true }));
  return [{ node: node.args[1], inComprehension }, ...body];
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case '!_':
    case '-_':
      return [node.args];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    default:
      return node.args;
  }
}

/** The names after `principal` in `principal.claims.dept` or `principal.claims["dept"]`; undefined for anything else. */
function principalPath(start: ASTNode): string[] | undefined {
  const names: string[] = [];
  let node = start;
  while (node.op === '.' || node.op === '[]') {
    const name = nameIn(node);
    if (name === undefined) return undefined;
    names.unshift(name);
    node = node.args[0];
  }
  return node.op === 'id' && node.args === 'principal' ? names.slice(0, 2) : undefined;
}

function nameIn(node: ASTNode): string | undefined {
  if (node.op === '.') return node.args[1];
  if (node.op !== '[]' || node.args[1].op !== 'value') return undefined;
  return typeof node.args[1].args === 'string' ? node.args[1].args : undefined;
}
