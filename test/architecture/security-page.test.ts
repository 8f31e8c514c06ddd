import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { citationsOf } from '../conformance/citations.ts';
import { rowsOf } from './security-page.ts';

const page = readFileSync('docs/security.md', 'utf8');
const rows = rowsOf(page);

/** What a reader must find an answer to, in the words of the first column. */
const ATTACKS = [
  'newline smuggling',
  'keys that two readers read differently',
  'a policy that is null or fails',
  'a costly expression',
  'too many children',
  'a child that reads our environment',
  'traffic of one caller on a shared link reaching another',
  'a flood before authentication',
  'a flood of unknown key ids',
  'a web page that opens a socket',
  'DNS rebinding',
  'an anonymous gateway behind a proxy or a forwarded port',
  'a reader that does not read',
  'equal subjects of two issuers',
  'a URI taken from its owner',
  'a template that captures',
  'a URI that climbs',
  'a token or ticket in a log, a query or an echo',
  'a name that shadows another',
  'a definition that changes after listing',
  'a web page that drives the TCP listener',
  'algorithm confusion',
  'a redirect to an internal address',
  'a compressed bomb',
];

test('every attack that is asked about has a row', () => {
  const told = rows.map(({ threat }) => threat);
  expect(ATTACKS.filter((attack) => !told.includes(attack))).toEqual([]);
});

test('every row has a control and a test that is there and runs', () => {
  const wrong = rows.flatMap(({ threat, control, tests }) => {
    if (control === '' || tests.length === 0) return [`${threat}: nothing`];
    return tests.flatMap(({ file, title }) => (titlesOf(file).has(title) ? [] : [`${threat}: ${file} ${title}`]));
  });
  expect(wrong).toEqual([]);
});

function titlesOf(file: string): ReadonlySet<string> {
  const { titles, proofs } = citationsOf(readFileSync(file, 'utf8'));
  return new Set([...titles, ...proofs]);
}
