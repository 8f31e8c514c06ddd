import type { Random } from '../trial/random.ts';

type Change = (text: string, random: Random) => string;

const PIECES = [
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\\',
  '\\u',
  '0',
  '-',
  'e',
  '.',
  'null',
  '\u0000',
  '\u2028',
  '\ufeff',
  '🙂',
];
const BREAKS = ['\n', '\r', '\r\n', '\t', ' ', '\u00a0'];
const NUMBERS = [
  '1e400',
  '-0',
  '9007199254740993',
  '123456789012345678901234567890',
  '1.0',
  '1E2',
  '01',
  '.5',
  '1e',
  '0x1',
];

/** What may become of the text of a message, by name. Those down to `text inside` keep valid JSON valid, mostly. */
export const TEXT_CHANGES: Readonly<Record<string, Change>> = {
  'white space': (text, random) => spliced(text, betweenTokens(text, random), 0, random.pick('\n', ...BREAKS)),
  'escaped key or text': (text, random) =>
    replacedOnce(text, /[a-z]/g, random, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'key repeated': (text, random) =>
    replacedOnce(text, /"\w+":("[^"]*"|\d+)/g, random, (member) => `${member},${member}`),
  'key in other letters': (text, random) =>
    replacedOnce(text, /"(\w+)":/g, random, (key) => `${key.toUpperCase()}1,${key}`),
  'number spelled otherwise': (text, random) =>
    replacedOnce(text, /:\d+/g, random, () => `:${random.pick('7', ...NUMBERS)}`),
  'deep nesting': (text, random) => {
    const depth = random.pick(10, 100, 3990, 4001, 20_000);
    return replacedOnce(text, /\{/g, random, () => `{"deep":${'['.repeat(depth)}${']'.repeat(depth)},`);
  },
  'many members': (text, random) => {
    const members = Array.from({ length: random.pick(10, 1000, 10_001) }, (_, at) => `"k${at}":0`).join(',');
    return replacedOnce(text, /\{/g, random, () => `{${members},`);
  },
  'text inside': (text, random) =>
    replacedOnce(text, /"[^"]+"/g, random, (word) => `"${word.slice(1, -1)}${unicode(random)}"`),
  'two messages': (text, random) => text + random.pick('', '\n', ' ', ',') + text,
  'characters put in': (text, random) =>
    spliced(text, random.int(text.length + 1), 0, random.pick('"', ...PIECES, ...BREAKS)),
  'characters taken out': (text, random) => spliced(text, random.int(text.length + 1), 1 + random.int(8), ''),
  'cut short': (text, random) => text.slice(0, random.int(text.length + 1)),
  'piece doubled': (text, random) => {
    const from = random.int(text.length + 1);
    return spliced(text, from, 0, text.slice(from, from + random.int(30)));
  },
};

function spliced(text: string, at: number, cut: number, piece: string): string {
  return text.slice(0, at) + piece + text.slice(at + cut);
}

function betweenTokens(text: string, random: Random): number {
  const places = [...text.matchAll(/[{},:[\]]/g)].map(({ index }) => index);
  return random.oneOf(places) ?? 0;
}

function replacedOnce(text: string, pattern: RegExp, random: Random, put: (found: string) => string): string {
  const found = random.oneOf([...text.matchAll(pattern)]);
  return found === undefined ? text : spliced(text, found.index, found[0].length, put(found[0]));
}

function unicode(random: Random): string {
  return random.pick('\\ud800', '\\u0000', 'é', '\u2029', '\\r\\n', '🙂', '\\udc00\\ud800', '\u0085', '%00', '\\"');
}

/** The bytes of a text, some changed: what comes of it may be no UTF-8. */
export function mutateBytes(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text);
  for (let changes = 1 + random.int(3); changes > 0 && bytes.length > 0; changes -= 1)
    bytes[random.int(bytes.length)] = random.pick(0, 0x0a, 0x0d, 0x22, 0x5c, 0x7b, 0x80, 0xc0, 0xff, random.int(256));
  return bytes;
}
