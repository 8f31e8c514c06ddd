import { parseAst } from 'vitest/node';

/** One node of a parsed source file, with the nodes around it, nearest first. */
export interface Visit {
  readonly node: Node;
  /** The property of the parent this node sits in: `source`, `arguments`, … */
  readonly slot: string;
  readonly parents: readonly Node[];
}

export interface Node {
  readonly type: string;
  readonly [property: string]: unknown;
}

/** Every node of a TypeScript source text, outermost first. Throws where the text is not TypeScript. */
export function visits(source: string): Visit[] {
  const found: Visit[] = [];
  const program: unknown = parseAst(source, { lang: 'ts' });
  if (!isNode(program)) throw new Error('the parser returned no tree');
  collect({ node: program, slot: 'program', parents: [] }, found);
  return found;
}

function collect(visit: Visit, found: Visit[]): void {
  found.push(visit);
  const parents = [visit.node, ...visit.parents];
  for (const [slot, value] of Object.entries(visit.node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) collect({ node: child, slot, parents }, found);
    }
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The text of a string literal, else undefined. */
export function literal(value: unknown): string | undefined {
  return isNode(value) && value.type === 'Literal' && typeof value.value === 'string' ? value.value : undefined;
}

/** The name of an identifier, else undefined. */
export function identifier(value: unknown): string | undefined {
  return isNode(value) && value.type === 'Identifier' && typeof value.name === 'string' ? value.name : undefined;
}

/** The property a member access or an object key names, written plainly or as a literal in brackets. */
export function namedProperty(key: unknown, computed: unknown): string | undefined {
  return computed === true ? literal(key) : (identifier(key) ?? literal(key));
}

/** Every module a source text imports: static, type-only, re-exported, dynamic or in an `import('x').T` type. */
export function importsOf(nodes: readonly Visit[]): string[] {
  return nodes.flatMap(({ node }) => {
    const module = literal(node.source);
    return module !== undefined && IMPORTING.has(node.type) ? [module] : [];
  });
}

const IMPORTING = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);
