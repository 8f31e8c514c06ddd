import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { auditLine } from '../../src/observe/audit-line.ts';
import type { AuditEvent } from '../../src/ports/sink.ts';
import { tableUnder } from '../support/markdown-table.ts';
import { fencesOf } from '../support/readme.ts';

const page = readFileSync('docs/audit.md', 'utf8');
const members = tableUnder(page, '| member | always there | what it is |');
const [example] = fencesOf(page);

/** Every member there is: one that is added to the event without a row fails here. */
const WHOLE: Required<AuditEvent> = {
  time: Date.UTC(2026, 10, 30, 21, 42, 31, 117),
  event: 'call',
  session: '3f0c9a52-7d1e-4c55-9b0e-6f2f6a4f1d20',
  request: '4',
  issuer: 'https://dev.example/',
  id: 'rex',
  method: 'tools/call',
  upstream: 'files',
  target: 'read_text_file',
  decision: 'allow',
  rule: '1',
  outcome: 'ok',
  durationMs: 8.417,
  argumentKeys: ['path'],
};

test('the example is what is written of such a call', () => {
  expect(example?.text).toBe(auditLine(WHOLE, true));
});

test('every member of a line is documented, in its order, and no other', () => {
  expect(members.map(([name]) => name)).toEqual(Object.keys(JSON.parse(auditLine(WHOLE, true))));
});
