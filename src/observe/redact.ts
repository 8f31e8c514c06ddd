/** What stands where a secret was. */
export const REDACTED = '[redacted]';

/** Objects and lists inside each other; what is deeper is not printed. */
const MAX_DEPTH = 6;
/** Values of one line that are printed, over all its objects and lists; ends cycles too. */
const MAX_VALUES = 1000;
/** UTF-16 units of one string. */
const MAX_TEXT = 16_384;

/** Names that hold a secret whatever their spelling: compared in lower case without `-` and `_`. */
const SECRET_NAMES = new Set(['headers', 'rawheaders', 'env', 'arguments', 'args', 'cookies', 'jwt', 'credentials']);
const SECRET_ENDINGS = [
  'authorization',
  'token',
  'tokens',
  'ticket',
  'secret',
  'secrets',
  'password',
  'apikey',
  'cookie',
];

/**
 * A copy of log fields without the values of keys that name secrets, errors as plain objects, bounded in every
 * direction. A second net: callers do not log secrets to begin with.
 */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return new Copy().members(fields, 0);
}

function namesSecret(key: string): boolean {
  const name = key.toLowerCase().replaceAll(/[-_]/g, '');
  return SECRET_NAMES.has(name) || SECRET_ENDINGS.some((ending) => name.endsWith(ending));
}

/** The copy of one line's fields: owns what is left of its bound. */
class Copy {
  #left = MAX_VALUES;

  members(value: object, depth: number): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      if (this.#spent()) break;
      copy[key] = namesSecret(key) && member !== undefined ? REDACTED : this.#value(member, depth + 1);
    }
    return copy;
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (depth > MAX_DEPTH) return '[deep]';
    if (value instanceof Error) return this.#error(value, depth);
    return Array.isArray(value) ? this.#list(value, depth) : this.members(value, depth);
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    for (const member of list) {
      if (this.#spent()) break;
      copy.push(this.#value(member, depth + 1));
    }
    return copy;
  }

  /** Type, message and stack, what else it carries (`code`, `errno`, …), the chain of causes, an aggregate's parts. */
  #error(error: Error, depth: number): Record<string, unknown> {
    const carried: Record<string, unknown> = { ...error };
    if (error.cause !== undefined) carried.cause = error.cause;
    if (error instanceof AggregateError) carried.errors = error.errors;
    const { name: type, message, stack } = error;
    return { ...this.members({ type, message, stack }, depth), ...this.members(carried, depth) };
  }

  #spent(): boolean {
    this.#left -= 1;
    return this.#left < 0;
  }
}
