const DURATION_UNITS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

const SIZE_UNITS = new Map([
  ['B', 1],
  ['KiB', 1_024],
  ['MiB', 1_024 ** 2],
  ['GiB', 1_024 ** 3],
]);

/** `10s` in milliseconds; undefined for anything that is not a whole number and a unit. A bare number has no unit and is refused. */
export function parseDuration(value: unknown): number | undefined {
  return parseUnit(value, DURATION_UNITS);
}

/** `4MiB` in bytes; undefined for anything that is not a whole number and a unit. */
export function parseSize(value: unknown): number | undefined {
  return parseUnit(value, SIZE_UNITS);
}

/** `25%` as 25; whole percents from 1 to 100. */
export function parsePercent(value: unknown): number | undefined {
  const percent = parseUnit(value, new Map([['%', 1]]));
  return percent !== undefined && percent >= 1 && percent <= 100 ? percent : undefined;
}

/** A whole number, also as decimal text: that is how one arrives from the environment or by substitution. */
export function parseInteger(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

/** True or false, also as text: see `parseInteger`. */
export function parseFlag(value: unknown): boolean | undefined {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : undefined;
}

function parseUnit(value: unknown, units: ReadonlyMap<string, number>): number | undefined {
  if (typeof value !== 'string') return undefined;
  const match = /^(\d{1,16})([A-Za-z%]{1,3})$/.exec(value);
  const factor = units.get(match?.[2] ?? '');
  if (factor === undefined) return undefined;
  const total = Number(match?.[1]) * factor;
  return Number.isSafeInteger(total) ? total : undefined;
}
