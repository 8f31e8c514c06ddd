import { nestsDeeper, type Span } from './json-text.ts';

/** What a peer says of itself may be this long, in UTF-16 units, and nest this deep: what reads and writes it recurses. */
const MAX_LENGTH = 64 * 1024;
const MAX_DEPTH = 64;

/** Whether a value of a judged text is one that any peer has reason to declare. */
export function isModest(text: string, { start, end }: Span): boolean {
  const length = end - start;
  if (length > MAX_LENGTH) return false;
  return length <= 2 * MAX_DEPTH || !nestsDeeper(text.slice(start, end), MAX_DEPTH);
}
