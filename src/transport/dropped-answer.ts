/**
 * Which request a dropped over-long line would have answered. Exact for what it finds: only members of the outermost
 * object count, read from both ends of the line as far as they are scalars. A large member may stand before, after or
 * between them; an id with a large member on each side is not found.
 */

const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
const SCALAR = String.raw`(?:${STRING}|-?\d[\d.eE+-]*|true|false|null)`;
const MEMBER = String.raw`\s*${STRING}\s*:\s*${SCALAR}\s*`;
const LEADING = new RegExp(String.raw`^\s*\{((?:${MEMBER},)*)\s*(${STRING})?`);
/** Cannot match from inside a string: from there an odd number of quotes is left, and this takes them in pairs. */
const TRAILING = new RegExp(String.raw`((?:,${MEMBER})+)\}\s*$`);

/** The integer id the line answers; undefined when it is a request, no id was found or the id is not an integer. */
export function droppedAnswerId(head: string, tail: string): number | undefined {
  const leading = LEADING.exec(head);
  if (leading === null) return undefined;
  const members = new Map([
    ...membersOf(leading[1]?.replace(/,$/, '')),
    ...membersOf(TRAILING.exec(tail)?.[1]?.slice(1)),
  ]);
  const isRequest = members.has('method') || leading[2] === '"method"';
  const id = members.get('id');
  return !isRequest && typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

function membersOf(text: string | undefined): [string, unknown][] {
  if (text === undefined) return [];
  try {
    const value: unknown = JSON.parse(`{${text}}`);
    return typeof value === 'object' && value !== null ? Object.entries(value) : [];
  } catch {
    return [];
  }
}
