import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { auditLine } from '../../src/observe/audit-line.ts';
import type {
  AuthAllowed,
  AuthDenied,
  CallEvent,
  ChangeAllowed,
  ChangeDenied,
  GrantsChanged,
  RuleFailed,
} from '../../src/ports/sink.ts';
import { tableUnder } from '../support/markdown-table.ts';
import { fencesOf } from '../support/readme.ts';

const page = readFileSync('docs/audit.md', 'utf8');
const members = tableUnder(page, '| member | always there | what it is |');
const authMembers = tableUnder(page, '| member of auth | always there | what it is |');
const policyMembers = tableUnder(page, '| member of policy | always there | what it is |');
const changeMembers = tableUnder(page, '| member of change | always there | what it is |');
const [example, arrivals, rules, changes] = fencesOf(page);

/** Every member there is: one that is added to the event without a row fails here. */
const WHOLE: Required<CallEvent> = {
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

const ALLOWED: Required<AuthAllowed> = {
  time: Date.UTC(2026, 10, 30, 21, 42, 30, 2),
  event: 'auth',
  session: '3f0c9a52-7d1e-4c55-9b0e-6f2f6a4f1d20',
  request: '3f0c9a52-7d1e-4c55-9b0e-6f2f6a4f1d20',
  issuer: 'https://dev.example/',
  id: 'rex',
  address: '203.0.113.9',
  via: 'websocket',
  decision: 'allow',
};

const DENIED: Required<AuthDenied> = {
  time: Date.UTC(2026, 10, 30, 21, 42, 30, 905),
  event: 'auth',
  request: 'b1f3a8d4-6a0e-4f6b-8a51-3c1f0f4a9d77',
  issuer: 'https://dev.example/',
  id: 'rex',
  address: '203.0.113.9',
  via: 'websocket',
  decision: 'deny',
  reason: 'insufficient_scope',
};

const FAILED: Required<RuleFailed> = {
  time: Date.UTC(2026, 10, 30, 21, 42, 31, 116),
  event: 'policy',
  session: '3f0c9a52-7d1e-4c55-9b0e-6f2f6a4f1d20',
  request: '4',
  issuer: 'https://dev.example/',
  id: 'rex',
  method: 'tools/call',
  reason: 'rule_failed',
  upstream: 'files',
  target: 'read_text_file',
  rule: '0',
  effect: 'allow',
};

const CHANGED: Required<GrantsChanged> = {
  time: Date.UTC(2026, 10, 30, 21, 57, 2, 340),
  event: 'policy',
  session: '3f0c9a52-7d1e-4c55-9b0e-6f2f6a4f1d20',
  request: '9',
  issuer: 'https://dev.example/',
  id: 'rex',
  method: 'ws-gateway/refreshToken',
  reason: 'grants_changed',
};

const PUBLISHED: Required<ChangeAllowed> = {
  time: Date.UTC(2026, 10, 30, 22, 3, 11, 500),
  event: 'change',
  request: '5f0e7c1d-0b62-4a1c-8d07-2f4f1f0a6f3e',
  address: '127.0.0.1',
  decision: 'allow',
  kind: 'updated',
  upstream: 'files',
  target: 'file:///srv/plan.md',
  published: 1,
};

const UNPUBLISHED: Required<ChangeDenied> = {
  time: Date.UTC(2026, 10, 30, 22, 3, 12, 20),
  event: 'change',
  request: 'c2f7c9b8-6a51-4d0e-9a7b-1d2c3b4a5e6f',
  address: '127.0.0.1',
  decision: 'deny',
  reason: 'invalid_token',
};

test('the examples are what is written of such a call, of such arrivals, of such a policy, and of such changes', () => {
  expect(example?.text).toBe(auditLine(WHOLE, true));
  expect(arrivals?.text).toBe(auditLine(ALLOWED, true) + auditLine(DENIED, true));
  expect(rules?.text).toBe(auditLine(FAILED, true) + auditLine(CHANGED, true));
  expect(changes?.text).toBe(auditLine(PUBLISHED, true) + auditLine(UNPUBLISHED, true));
});

test('every member of a line is documented, in its order, and no other', () => {
  expect(members.map(([name]) => name)).toEqual(Object.keys(JSON.parse(auditLine(WHOLE, true))));
  const written = [ALLOWED, DENIED].flatMap((event) => Object.keys(JSON.parse(auditLine(event, true))));
  expect(authMembers.map(([name]) => name)).toEqual([...new Set(written)]);
  const ofPolicy = [FAILED, CHANGED].flatMap((event) => Object.keys(JSON.parse(auditLine(event, true))));
  expect(policyMembers.map(([name]) => name)).toEqual([...new Set(ofPolicy)]);
  const ofChange = [PUBLISHED, UNPUBLISHED].flatMap((event) => Object.keys(JSON.parse(auditLine(event, true))));
  expect(changeMembers.map(([name]) => name)).toEqual([...new Set(ofChange)]);
});
