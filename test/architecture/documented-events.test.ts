import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tableUnder } from '../support/markdown-table.ts';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join('src', name), 'utf8') }));

/** A call of a log, or of the walk's own `note`, which logs a warning. */
const WRITTEN = /\blog\.(debug|info|warn|error)\(\s*([^,)\s]+)|this\.(note)\(\s*([^,)\s]+)/gi;

/** A refusal, which is on either of two levels. */
const REFUSED = /\blogRefusal\(\s*'(\w+)'/g;

const refusals = sources.flatMap(({ text }) =>
  [...text.matchAll(REFUSED)].flatMap(([, event]) => [`${event} debug`, `${event} info`]),
);

const calls = sources.flatMap(({ name, text }) =>
  [...text.matchAll(WRITTEN)].map(([, level, event, note, noted]) => ({
    name,
    level: level ?? (note && 'warn'),
    event: event ?? noted ?? '',
  })),
);

const isLiteral = ({ event }: { readonly event: string }) => /^'\w+'$/.test(event);

test('an event is a word in the source, but where a word is passed on', () => {
  expect(calls.filter((call) => !isLiteral(call))).toEqual([
    { name: 'catalogue/walk.ts', level: 'warn', event: 'event' },
    { name: 'http/audit-auth.ts', level: 'debug', event: 'event' },
    { name: 'http/audit-auth.ts', level: 'info', event: 'event' },
  ]);
  expect(refusals).toHaveLength(8);
});

test('every event of the log is documented with its levels, and no other', () => {
  const words = calls.filter(isLiteral).map(({ level, event }) => `${event.slice(1, -1)} ${level}`);
  const coded = new Set([...words, ...refusals]);
  expect(coded.size).toBeGreaterThan(50);
  const rows = tableUnder(readFileSync('docs/errors.md', 'utf8'), '| event | level | when |');
  const told = rows.flatMap(([event, levels = '']) => levels.split(', ').map((level) => `${event} ${level}`));
  expect(told.sort()).toEqual([...coded].sort());
  expect(rows.filter(([, , when]) => (when ?? '') === '')).toEqual([]);
});
