/** Where in the configuration: a key for each step, a number for an item of a list. */
export type Path = readonly (string | number)[];

/** What is wrong at one place. `text` follows the place's name in a sentence and never quotes a value. */
export interface Problem {
  readonly path: Path;
  readonly text: string;
}

/** `auth.issuers[0].keys`; a key that would not read as one word is put in quotes and cut. */
export function pathText(path: Path): string {
  const text = path.map(stepText).join('');
  return text.startsWith('.') ? text.slice(1) : text;
}

function stepText(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  const plain = /^[\w$@<*-]{1,64}$/.test(step) ? step : JSON.stringify(step.slice(0, 64));
  return `.${plain}`;
}

/** The value at a path; undefined when a step is missing. Own properties only. */
export function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Object.getOwnPropertyDescriptor(value, step)?.value;
  }
  return value;
}

/** A mapping of the file: what `plainTree` makes of one. */
export type Mapping = { [key: string]: unknown };

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
