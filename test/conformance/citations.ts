import { identifier, isNode, literal, type Node, visits } from '../architecture/syntax.ts';

/** What a test file says that it tests. */
export interface Citations {
  /** Titles of its tests, as written: `%s` where a table fills it in. Skipped tests are none. */
  readonly titles: readonly string[];
  /** Ids it gives to `verifies`. */
  readonly verified: readonly string[];
  /** Titles of the tests that `verifies` makes. */
  readonly proofs: readonly string[];
}

const TESTS = new Set(['test', 'it']);
const IDLE = new Set(['skip', 'todo', 'fails', 'skipIf', 'runIf']);

/** Reads the source of a test file. */
export function citationsOf(source: string): Citations {
  const calls = visits(source).flatMap(({ node }) => (node.type === 'CallExpression' ? [node] : []));
  return { titles: calls.flatMap(titleOf), verified: calls.flatMap(verifiedBy), proofs: calls.flatMap(proofOf) };
}

function titleOf(call: Node): string[] {
  const names = nameChain(call.callee);
  const [first] = argumentsOf(call);
  const title = literal(first);
  const runs = TESTS.has(names[0] ?? '') && !names.some((name) => IDLE.has(name));
  return title !== undefined && runs ? [title] : [];
}

function verifiedBy(call: Node): string[] {
  if (identifier(call.callee) !== 'verifies') return [];
  const [ids] = argumentsOf(call);
  const elements = isNode(ids) && Array.isArray(ids.elements) ? ids.elements : [ids];
  return elements.map((id) => {
    const text = literal(id);
    if (text === undefined) throw new Error('an id given to verifies is no literal');
    return text;
  });
}

function proofOf(call: Node): string[] {
  if (identifier(call.callee) !== 'verifies') return [];
  const title = literal(argumentsOf(call)[1]);
  return title === undefined ? [] : [title];
}

/** `test.each(table)` as ['test', 'each']. */
function nameChain(callee: unknown): string[] {
  if (!isNode(callee)) return [];
  const name = identifier(callee);
  if (name !== undefined) return [name];
  if (callee.type === 'CallExpression') return nameChain(callee.callee);
  return [...nameChain(callee.object), ...[identifier(callee.property) ?? []].flat()];
}

function argumentsOf(call: Node): readonly unknown[] {
  return Array.isArray(call.arguments) ? call.arguments : [];
}
