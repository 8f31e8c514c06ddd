import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ADMIN_REFUSALS } from '../../src/http/admin-refusals.ts';
import { FAREWELLS } from '../../src/http/farewells.ts';
import { REFUSALS } from '../../src/http/refusals.ts';
import * as errors from '../../src/protocol/errors.ts';
import { tableUnder } from '../support/markdown-table.ts';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const told = (rows: string[][], columns: number) => rows.map((row) => row.slice(0, columns)).sort();

test('every JSON-RPC code of the gateway is documented, and no other', () => {
  const rows = tableUnder(page, '| code | name | when | what the client does |');
  const coded = Object.entries(errors).flatMap(([name, code]) => (typeof code === 'number' ? [[`${code}`, name]] : []));
  expect(coded.length).toBeGreaterThan(5);
  expect(told(rows, 2)).toEqual(coded.sort());
});

test('every fault is documented with its message, and no other', () => {
  const rows = tableUnder(page, '| reason | message | retryable | when | what the client does |');
  const coded = Object.entries(errors.FAULTS).map(([reason, { message, retryable }]) => [
    reason,
    message,
    retryable ? 'yes' : 'no',
  ]);
  expect(rows.map((row) => row.slice(0, 3))).toEqual(coded);
});

test('what is answered with id null is documented, and no other', () => {
  const rows = tableUnder(page, '| problem | code | message | when |');
  const coded = Object.entries(errors.UNREADABLE).map(([problem, { code, message }]) => [problem, `${code}`, message]);
  expect(rows.map((row) => row.slice(0, 3))).toEqual(coded);
});

test('every refused upgrade is documented with its status, and no other', () => {
  const rows = tableUnder(page, '| reason | status | Retry-After | when | what the client does |');
  const coded = Object.entries(REFUSALS).map(([reason, { status, retryAfter }]) => [
    reason,
    `${status}`,
    `${retryAfter ?? ''}`,
  ]);
  expect(rows.map((row) => row.slice(0, 3))).toEqual(coded);
});

test('every refusal that a page is told by a close is documented, and no other', () => {
  expect(tableUnder(page, '| reason | close |')).toEqual(Object.entries(FAREWELLS));
});

test('every refused change is documented with its status, and no other', () => {
  const rows = tableUnder(page, '| reason | status | when | what the client does |');
  const coded = Object.entries(ADMIN_REFUSALS).map(([reason, status]) => [reason, `${status}`]);
  expect(told(rows, 2)).toEqual(coded.sort());
});

test.each([
  ['| code | name | when | what the client does |', 4],
  ['| reason | message | retryable | when | what the client does |', 5],
  ['| problem | code | message | when |', 4],
  ['| reason | status | Retry-After | when | what the client does |', 5],
  ['| reason | status | when | what the client does |', 4],
])('each row of %s says when, and what to do', (header, width) => {
  const silent = tableUnder(page, header).filter((row) => row.length !== width || row.slice(3).includes(''));
  expect(silent).toEqual([]);
});
