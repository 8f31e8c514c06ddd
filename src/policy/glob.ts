/**
 * Globs over slash-separated text. One star is any run without a slash, two are any run, and a whole segment of two
 * stars between slashes is also no segment at all. Everything else is literal; there is no escape. Matching costs at
 * most pattern length times text length, whatever either holds.
 */
export type Glob = (text: string) => boolean;

const STAR = 0;
const DEEP = 1;
type Token = string | typeof STAR | typeof DEEP;

export function compileGlob(pattern: string, options: { readonly foldCase: boolean }): Glob {
  const matches = compileExact(options.foldCase ? fold(pattern) : pattern);
  return options.foldCase ? (text) => matches(fold(text)) : matches;
}

/** True for a pattern that matches every text. */
export function matchesAnything(pattern: string): boolean {
  return pattern.length >= 2 && pattern.replaceAll('*', '') === '';
}

/**
 * Case folding that no spelling escapes: upper case first, so that U+017F and U+212A become `s` and `k`, and each
 * character alone, so that the final sigma does not depend on what follows it.
 */
export function fold(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += character.toUpperCase().toLowerCase();
  return folded;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** Most patterns are a literal, or a literal and one star at its end: those need no state machine. */
function compileExact(pattern: string): Glob {
  const first = pattern.indexOf('*');
  if (first === -1) return (text) => text === pattern;
  const prefix = pattern.slice(0, first);
  const rest = tokenize(pattern.slice(first));
  if (rest.length === 1) {
    const from = prefix.length;
    if (rest[0] === DEEP) return (text) => text.startsWith(prefix);
    return (text) => text.startsWith(prefix) && text.indexOf('/', from) === -1;
  }
  const tokens = tokenize(pattern);
  return (text) => text.startsWith(prefix) && simulate(tokens, prefix.length, text);
}

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] !== '*') tokens.push(pattern.charAt(at));
    else if (tokens.at(-1) === STAR || tokens.at(-1) === DEEP) tokens[tokens.length - 1] = DEEP;
    else tokens.push(STAR);
  }
  return tokens;
}

/** True if the pattern matches any text that begins so: whatever is left of it when `prefix` is used up, some text fits. */
export function mayBeginWith(pattern: string, prefix: string): boolean {
  return follow(tokenize(pattern), 0, prefix) !== undefined;
}

function simulate(tokens: readonly Token[], start: number, text: string): boolean {
  return follow(tokens, start, text)?.[tokens.length] === 1;
}

/**
 * Follows all partial matches at once: one pass over the text, one flag a token. `start` tokens are known to match. The
 * flags at the end of the text; undefined once none is left.
 */
function follow(tokens: readonly Token[], start: number, text: string): Uint8Array | undefined {
  let active = new Uint8Array(tokens.length + 1);
  let next = new Uint8Array(tokens.length + 1);
  enter(tokens, active, start);
  for (let at = start; at < text.length; at++) {
    if (!step(tokens, active, next, text.charAt(at))) return undefined;
    [active, next] = [next, active];
    next.fill(0);
  }
  return active;
}

function step(tokens: readonly Token[], active: Uint8Array, next: Uint8Array, character: string): boolean {
  let alive = false;
  for (let state = 0; state < tokens.length; state++) {
    if (active[state] !== 1) continue;
    const token = tokens[state];
    if (token === character) enter(tokens, next, state + 1);
    else if (token === DEEP || (token === STAR && character !== '/')) stay(tokens, next, state);
    else continue;
    alive = true;
  }
  return alive;
}

/** Reaches a state from the one before it: the only moment at which a segment of `**` may count as none. */
function enter(tokens: readonly Token[], states: Uint8Array, state: number): void {
  stay(tokens, states, state);
  const wholeSegment = tokens[state] === DEEP && tokens[state - 1] === '/' && tokens[state + 1] === '/';
  if (wholeSegment) enter(tokens, states, state + 2);
}

/** Marks a state and, as a star may match nothing, those behind its stars. */
function stay(tokens: readonly Token[], states: Uint8Array, state: number): void {
  let reached = state;
  states[reached] = 1;
  while (tokens[reached] === STAR || tokens[reached] === DEEP) states[++reached] = 1;
}
