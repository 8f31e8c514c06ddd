import { field, type Request } from './envelope.ts';
import { decodeString, JsonText, type Member, type ObjectNode } from './json-text.ts';
import type { Mirrored, Mirrors } from './mirrors.ts';

/** What a header is called, and the text of the value it repeats, not yet encoded. */
export type MirroredValue = readonly [header: string, value: string];

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const WHOLE = /^-?\d+$/;

/**
 * What a call says in headers, read from the text of its arguments, which have no key twice. A parameter that is absent
 * or null says nothing (MCP 2026-07-28, Custom Headers from Tool Parameters), nor does an object or array: no header can
 * carry one. Whether a value is of the type its schema demands is for the upstream to judge.
 */
export function mirroredValues({ text, params }: Request, { within }: Mirrors): MirroredValue[] {
  const args = field(params, 'arguments');
  if (args === undefined || text.charCodeAt(args.start) !== OPEN_BRACE) return [];
  return valuesIn(text, new JsonText(text).object(args.start, { within }), within);
}

function valuesIn(text: string, node: ObjectNode, within: Mirrored['within']): MirroredValue[] {
  return node.members.flatMap((member) => {
    const wanted = within.get(member.key);
    if (wanted === undefined) return [];
    if (member.inner !== undefined) return valuesIn(text, member.inner, wanted.within);
    const value = wanted.header === undefined ? undefined : scalarText(text, member);
    return wanted.header === undefined || value === undefined ? [] : [[wanted.header, value] as const];
  });
}

function scalarText(text: string, { start, end }: Member): string | undefined {
  if (text.charCodeAt(start) === QUOTE) return decodeString(text, start, end);
  const raw = text.slice(start, end);
  if (raw === 'true' || raw === 'false') return raw;
  return /^[-\d]/.test(raw) ? numberText(raw) : undefined;
}

/** In decimal. All digits of a whole number are kept; one with a fraction or an exponent is the double every reader makes of it. */
function numberText(raw: string): string | undefined {
  if (WHOLE.test(raw)) return raw === '-0' ? '0' : raw;
  const value = Number(raw);
  if (!Number.isFinite(value)) return undefined;
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}
