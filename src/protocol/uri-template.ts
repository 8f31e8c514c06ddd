/** One step of a match: takes a character that it accepts, any number of times if it repeats. */
interface Step {
  readonly accepts: (character: string) => boolean;
  readonly repeats: boolean;
  /** How many steps, this one included, may be left out on arrival: 0 for none. */
  readonly skip: number;
}

/** Bound of template length times URI length, so of what one match may cost: some ten milliseconds at worst. */
const MAX_WORK = 1_000_000;

/**
 * Whether a URI may be an expansion of a template (RFC 6570): to find the owner of a URI, and to judge one. Values are
 * not taken apart. `{x}` is one or more characters other than `/ ? #`; `{+x}` one or more of any; `{/x}` and `{.x}` one
 * segment or label; `{#x}`, `{?x}`, `{&x}`, `{;x}` may be absent. `*` and more than one variable allow several
 * segments or labels, or none; a length (`:n`) is not looked at. A malformed template matches nothing, and neither does
 * a pair whose lengths multiply to over a million.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  if (template.length * uri.length > MAX_WORK) return false;
  const steps = parse(template);
  return steps !== undefined && simulate(steps, uri);
}

function parse(template: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let at = 0; at < template.length; at++) {
    const character = template.charAt(at);
    if (character === '}') return undefined;
    if (character !== '{') {
      steps.push(literal(character));
      continue;
    }
    const close = template.indexOf('}', at);
    const expansion = close === -1 ? undefined : expand(template.slice(at + 1, close));
    if (expansion === undefined) return undefined;
    steps.push(...expansion);
    at = close;
  }
  return steps;
}

const VARIABLE = /^(?:[\w.]|%[0-9A-Fa-f]{2})+(?:\*|:[1-9]\d{0,3})?$/;

/** RFC 6570 section 2.2, operators of levels 1 to 4. */
function expand(expression: string): Step[] | undefined {
  const operator = /^[+#./;?&]/.exec(expression)?.[0] ?? '';
  const variables = expression.slice(operator.length).split(',');
  if (!variables.every((variable) => VARIABLE.test(variable))) return undefined;
  const several = variables.length > 1 || expression.endsWith('*');
  const value = someOf(forbiddenIn(operator, several));
  if (operator === '' || operator === '+') return value;
  const steps = [literal(operator), ...value];
  const mayBeAbsent = several || !'/.'.includes(operator);
  return mayBeAbsent ? optional(steps) : steps;
}

/** The characters that end a value. */
function forbiddenIn(operator: string, several: boolean): string {
  if (operator === '+' || operator === '#') return '';
  if (operator === '?' || operator === '&') return '#';
  if (operator === '/' && several) return '?#';
  if (operator === '.' && !several) return './?#';
  return '/?#';
}

function literal(expected: string): Step {
  return { accepts: (character) => character === expected, repeats: false, skip: 0 };
}

function someOf(forbidden: string): Step[] {
  const accepts = (character: string) => !forbidden.includes(character);
  return [
    { accepts, repeats: false, skip: 0 },
    { accepts, repeats: true, skip: 1 },
  ];
}

function optional(steps: readonly Step[]): Step[] {
  return steps.map((step, at) => (at === 0 ? { ...step, skip: steps.length } : step));
}

/** Follows all partial matches at once: one pass over the URI, each step at most once a character. */
function simulate(steps: readonly Step[], uri: string): boolean {
  const seen = new Int32Array(steps.length + 1);
  let active: number[] = [];
  arrive(steps, active, seen, 0, 1);
  for (let position = 0; position < uri.length && active.length > 0; position++) {
    active = advance(steps, active, uri.charAt(position), seen, position + 2);
  }
  return active.includes(steps.length);
}

function advance(
  steps: readonly Step[],
  active: number[],
  character: string,
  seen: Int32Array,
  round: number,
): number[] {
  const next: number[] = [];
  for (const at of active) {
    const step = steps[at];
    if (step?.accepts(character)) arrive(steps, next, seen, step.repeats ? at : at + 1, round);
  }
  return next;
}

/** Adds a step and those reachable from it without taking a character, once a round. Steps skip forward only. */
function arrive(steps: readonly Step[], reached: number[], seen: Int32Array, first: number, round: number): void {
  for (let at = first; seen[at] !== round; ) {
    seen[at] = round;
    reached.push(at);
    const skip = steps[at]?.skip ?? 0;
    if (skip === 0) return;
    at += skip;
  }
}
