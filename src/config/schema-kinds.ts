import { z } from 'zod';
import { parseDuration, parseFlag, parseInteger, parseSize } from './units.ts';

/**
 * What a key's schema says about itself, for docs/configuration.md, the environment and the sentences about it: `kind`
 * completes "must be …", `scalar` marks what one environment variable can hold, `default` words a default that depends on other keys.
 */
export interface KeyMeta {
  readonly kind?: string;
  readonly scalar?: boolean;
  readonly default?: string;
  readonly description?: string | undefined;
}

/** A value that is read as a whole: `parse` gives undefined for what is not of this kind. Its message never quotes the value. */
export function leaf<T>(kind: string, parse: (value: unknown) => T | undefined) {
  return z
    .unknown()
    .transform((value, context): T => {
      const parsed = parse(value);
      if (parsed !== undefined) return parsed;
      context.addIssue({ code: 'custom', message: `must be ${kind}`, params: { kind } });
      return z.NEVER;
    })
    .meta({ kind, scalar: true });
}

/** Milliseconds. Zero only where it means something. */
export function duration(zero: 'zero' | 'positive' = 'positive') {
  const floor = zero === 'zero' ? 0 : 1;
  const kind = `a ${zero === 'zero' ? '' : 'positive '}duration such as 500ms, 10s, 5m, 24h or 30d`;
  return leaf(kind, (value) => atLeast(floor, parseDuration(value)));
}

const MAX_SIZE = 256 * 1_024 ** 2;

/** Bytes; bounded so that one message always fits one string of the runtime. */
export function size() {
  return leaf('a size from 1B to 256MiB such as 64KiB or 4MiB', (value) => within(1, MAX_SIZE, parseSize(value)));
}

export function count(min = 1, max: number = Number.MAX_SAFE_INTEGER) {
  const kind =
    max === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`;
  return leaf(kind, (value) => within(min, max, parseInteger(value)));
}

export function flag() {
  return leaf('true or false', parseFlag);
}

/** Text that is not empty and holds no NUL, narrowed by `holds`. */
export function text(kind = 'text that is not empty', holds: (value: string) => boolean = () => true) {
  return leaf(kind, (value) =>
    typeof value === 'string' && value !== '' && !value.includes('\0') && holds(value) ? value : undefined,
  );
}

export function matching(kind: string, pattern: RegExp) {
  return leaf(kind, (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined));
}

export function oneOf<const T extends string>(...words: readonly T[]) {
  const kind = words.length === 1 ? `the word ${words[0]}` : `one of ${words.join(', ')}`;
  return leaf(kind, (value) => words.find((word) => word === value));
}

/** A list whose items are of one kind; `of` names it for the documentation. */
export function list<T extends z.ZodType>(of: string, item: T) {
  return z.array(item).meta({ kind: `list of ${of}` });
}

/** A table from names of the operator's choice to values of one kind. */
export function table<T extends z.ZodType>(of: string, value: T) {
  return z.record(z.string(), value).meta({ kind: `mapping to ${of}` });
}

/** The sentence a key has in docs/configuration.md. Say it last: wrappers do not inherit it. */
export function says<T extends z.ZodType>(schema: T, description: string, fallback?: string): T {
  return schema.meta(fallback === undefined ? { description } : { description, default: fallback });
}

/** Every array, record and object of a parsed value, read-only all the way down. */
export type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

function atLeast(min: number, value: number | undefined): number | undefined {
  return within(min, Number.MAX_SAFE_INTEGER, value);
}

function within(min: number, max: number, value: number | undefined): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}
