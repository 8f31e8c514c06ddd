/** A JSON value as CEL sees it: integers are int (BigInt), other numbers double, objects maps that inherit nothing. */
export type CelValue = null | boolean | string | bigint | number | readonly CelValue[] | ReadonlyMap<string, CelValue>;

/** Deeper values are refused: whatever walks one may then recurse. */
const MAX_DEPTH = 250;

/**
 * Reads JSON text (RFC 8259; exactly what JSON.parse accepts) so that integers of any size stay exact. A number written
 * without fraction and exponent is an int, every other one the double that JSON.parse makes of it. Throws on text that
 * is not JSON, a key twice in one object, and nesting over 250. Costs time linear in the text, apart from huge integers.
 */
export function celFromJson(text: string): CelValue {
  const reader: Reader = { text, at: 0 };
  const value = readValue(reader, 0);
  if (nextToken(reader) !== '') throw new SyntaxError('text after the JSON value');
  return value;
}

/** The same for a value that JSON.parse made: whole numbers within the safe range are ints. Throws on what JSON has not. */
export function celFromValue(value: unknown, depth = 0): CelValue {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deep');
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item) => celFromValue(item, depth + 1));
  if (typeof value !== 'object') throw new TypeError('not a JSON value');
  return new Map(Object.entries(value).map(([key, item]) => [key, celFromValue(item, depth + 1)]));
}

interface Reader {
  readonly text: string;
  at: number;
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

function readValue(reader: Reader, depth: number): CelValue {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deep');
  switch (nextToken(reader)) {
    case '{':
      return readObject(reader, depth);
    case '[':
      return readArray(reader, depth);
    case '"':
      return readString(reader);
    case 't':
    case 'f':
    case 'n':
      return readWord(reader);
    default:
      return readNumber(reader);
  }
}

function readObject(reader: Reader, depth: number): CelValue {
  const map = new Map<string, CelValue>();
  readList(reader, '}', () => {
    if (nextToken(reader) !== '"') throw new SyntaxError('expected a key');
    const key = readString(reader);
    if (map.has(key)) throw new SyntaxError('a key twice');
    if (nextToken(reader) !== ':') throw new SyntaxError('expected a colon');
    reader.at += 1;
    map.set(key, readValue(reader, depth + 1));
  });
  return map;
}

function readArray(reader: Reader, depth: number): CelValue {
  const items: CelValue[] = [];
  readList(reader, ']', () => items.push(readValue(reader, depth + 1)));
  return items;
}

/** From the opening bracket to past the closing one. */
function readList(reader: Reader, close: string, readItem: () => void): void {
  reader.at += 1;
  if (nextToken(reader) === close) {
    reader.at += 1;
    return;
  }
  for (;;) {
    readItem();
    const separator = nextToken(reader);
    reader.at += 1;
    if (separator === close) return;
    if (separator !== ',') throw new SyntaxError('expected a comma');
  }
}

/** JSON.parse judges escapes and control characters. */
function readString(reader: Reader): string {
  const value: unknown = JSON.parse(take(reader, STRING)[0]);
  if (typeof value !== 'string') throw new SyntaxError('expected a string');
  return value;
}

function readWord(reader: Reader): boolean | null {
  const [word] = take(reader, WORD);
  return word === 'null' ? null : word === 'true';
}

function readNumber(reader: Reader): bigint | number {
  const [text, fraction, exponent] = take(reader, NUMBER);
  return fraction === undefined && exponent === undefined ? BigInt(text) : Number(text);
}

/** Skips white space; the character there, empty at the end. */
function nextToken(reader: Reader): string {
  take(reader, SPACE);
  return reader.text.charAt(reader.at);
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.text);
  if (match === null) throw new SyntaxError('not JSON');
  reader.at = pattern.lastIndex;
  return match;
}
