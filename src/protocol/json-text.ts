/**
 * Finding places in a JSON text without building its tree. Every function here takes text that JSON.parse has accepted
 * and a position inside it; on anything else the result is meaningless (but every loop still ends at the text's end).
 * Nothing recurses over the caller's nesting: only over the shape we ask for, which is ours.
 */

/** A member of an object: its decoded key and where its value stands, [start, end). `inner` is set where the shape descends. */
export interface Member {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly inner: ObjectNode | undefined;
}

export interface ObjectNode {
  readonly start: number;
  readonly end: number;
  readonly members: readonly Member[];
}

/** Which members of an object are themselves read as objects, and how. */
export interface Shape {
  readonly within: ReadonlyMap<string, Shape>;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

const FLAT: Shape = { within: new Map() };

/** Reads one text; remembers the deepest nesting it has passed (1 = a flat object) and whether it has left members out. */
export class JsonText {
  readonly text: string;
  deepest = 0;
  crowded = false;
  private readonly most: number;

  /** `most` members are kept of one object. */
  constructor(text: string, most = Number.POSITIVE_INFINITY) {
    this.text = text;
    this.most = most;
  }

  /** First position at or after `at` that is not white space (RFC 8259 section 2). */
  skipSpace(at: number): number {
    let next = at;
    while (this.text.charCodeAt(next) <= 0x20) next += 1;
    return next;
  }

  /** The object that starts at `at` (a `{`), its first members in order, duplicates kept. */
  object(at: number, shape: Shape = FLAT, depth = 1): ObjectNode {
    this.reach(depth);
    const members: Member[] = [];
    let next = this.skipSpace(at + 1);
    while (members.length < this.most && this.isBeforeMember(next)) {
      const member = this.member(next, shape, depth);
      members.push(member);
      next = this.afterComma(member.end);
    }
    return { start: at, end: this.skipMembers(next, depth) + 1, members };
  }

  /** Where the elements of the array that starts at `at` (a `[`) stand, the first `most` of them. */
  elements(at: number, most = Number.POSITIVE_INFINITY): Span[] {
    const spans: Span[] = [];
    let next = this.skipSpace(at + 1);
    while (spans.length < most && next < this.text.length && this.text.charCodeAt(next) !== CLOSE_BRACKET) {
      const end = this.skipValue(next, 2);
      spans.push({ start: next, end });
      next = this.afterComma(end);
    }
    return spans;
  }

  /** End of the value that starts at `at`, which stands at nesting `depth`. */
  skipValue(at: number, depth: number): number {
    const code = this.text.charCodeAt(at);
    if (code === QUOTE) return endOfString(this.text, at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) return this.skipComposite(at, depth);
    let next = at + 1;
    while (next < this.text.length && !endsScalar(this.text.charCodeAt(next))) next += 1;
    return next;
  }

  private member(at: number, shape: Shape, depth: number): Member {
    const keyEnd = endOfString(this.text, at);
    const key = decodeString(this.text, at, keyEnd);
    const start = this.skipSpace(this.skipSpace(keyEnd) + 1);
    const inside = shape.within.get(key);
    if (inside !== undefined && this.text.charCodeAt(start) === OPEN_BRACE) {
      const inner = this.object(start, inside, depth + 1);
      return { key, start, end: inner.end, inner };
    }
    return { key, start, end: this.skipValue(start, depth + 1), inner: undefined };
  }

  private isBeforeMember(at: number): boolean {
    return at < this.text.length && this.text.charCodeAt(at) !== CLOSE_BRACE;
  }

  /** Where the closing brace is of an object whose next member, if there is one, starts at `at`. */
  private skipMembers(at: number, depth: number): number {
    let next = at;
    while (this.isBeforeMember(next)) {
      this.crowded = true;
      const colon = this.skipSpace(endOfString(this.text, next));
      next = this.afterComma(this.skipValue(this.skipSpace(colon + 1), depth + 1));
    }
    return next;
  }

  private skipComposite(at: number, depth: number): number {
    const { text } = this;
    let level = 0;
    let next = at;
    while (next < text.length) {
      const code = text.charCodeAt(next);
      if (code === QUOTE) {
        next = endOfString(text, next);
        continue;
      }
      next += 1;
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        level += 1;
        this.reach(depth + level - 1);
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        level -= 1;
        if (level === 0) return next;
      }
    }
    return next;
  }

  private afterComma(at: number): number {
    const next = this.skipSpace(at);
    return this.text.charCodeAt(next) === COMMA ? this.skipSpace(next + 1) : next;
  }

  private reach(depth: number): void {
    if (depth > this.deepest) this.deepest = depth;
  }
}

/** True if objects and arrays nest deeper than `limit` somewhere; on any text, and without reading further than that place. */
export function nestsDeeper(text: string, limit: number): boolean {
  let depth = 0;
  let next = 0;
  while (next < text.length) {
    const code = text.charCodeAt(next);
    if (code === QUOTE) {
      next = endOfString(text, next);
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth > limit) return true;
    next += 1;
  }
  return false;
}

/** True if any object inside the value that starts at `at` has a key twice, compared decoded. Iterative; linear in the text. */
export function repeatsKey(text: string, at: number): boolean {
  const open: (Set<string> | undefined)[] = [];
  let next = at;
  let wantsKey = false;
  while (next < text.length) {
    const code = text.charCodeAt(next);
    if (code === QUOTE) {
      const end = endOfString(text, next);
      const keys = open.at(-1);
      if (wantsKey && keys !== undefined) {
        const key = decodeString(text, next, end);
        if (keys.has(key)) return true;
        keys.add(key);
        wantsKey = false;
      }
      next = end;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      open.push(code === OPEN_BRACE ? new Set() : undefined);
      wantsKey = code === OPEN_BRACE;
      next += 1;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      open.pop();
      wantsKey = false;
      next += 1;
    } else {
      if (code === COMMA) wantsKey = open.at(-1) !== undefined;
      next += 1;
    }
    if (open.length === 0) return false;
  }
  return false;
}

/** How far a string is searched character by character: most are short, and for those that is cheaper than a call. */
const SHORT = 24;

/** Position after the closing quote of the string that starts at `at`. */
function endOfString(text: string, at: number): number {
  let from = at + 1;
  for (const near = from + SHORT; from < near; from += 1) {
    const code = text.charCodeAt(from);
    if (code === QUOTE) return from + 1;
    if (code === BACKSLASH) break;
  }
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    if (!escaped(text, quote)) return quote + 1;
    from = quote + 1;
  }
}

function escaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}

/** The value of the string literal at [start, end). */
export function decodeString(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  return raw.includes('\\') ? String(JSON.parse(text.slice(start, end))) : raw;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function endsScalar(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || isSpace(code);
}
