import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ADMIN_TOKEN, type AdminRequest, startAdminGateway } from '../support/admin-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';

const UP = { mcpServers: { up: stdioUpstream('plain.mjs') } };
const GOOD = { kind: 'tools' };

const refusal = (status: number, error: string, more: object = {}) => ({ status, body: { error, ...more } });

test.each<[string, AdminRequest, ReturnType<typeof refusal>]>([
  ['whatever carries an Origin', { headers: { origin: 'http://127.0.0.1' } }, refusal(403, 'origin')],
  ['also at a path that is not there', { path: '/', headers: { origin: 'null' } }, refusal(403, 'origin')],
  ['a Host that is not this machine', { headers: { host: 'admin.example' } }, refusal(403, 'host')],
  ['a Host twice', { headers: { host: ['127.0.0.1', '127.0.0.1'] } }, refusal(403, 'host')],
  ['another path', { path: '/change' }, refusal(404, 'not_found')],
  ['GET', { method: 'GET' }, refusal(404, 'not_found')],
  ['PUT', { method: 'PUT' }, refusal(404, 'not_found')],
  [
    'text that is not said to be JSON',
    { headers: { 'content-type': 'text/plain' } },
    refusal(415, 'unsupported_media_type'),
  ],
])('%s is refused', async (_what, request, expected) => {
  const gateway = await startAdminGateway(UP);
  expect(await gateway.tell(GOOD, request)).toEqual({ ...expected, challenge: undefined, connection: 'close' });
});

describe('a token', () => {
  test.each([
    ['that is not there', undefined, 'no_token'],
    ['of another scheme', `Basic ${ADMIN_TOKEN}`, 'no_token'],
    ['that is not one', 'Bearer two words', 'no_token'],
    ['that is another', `Bearer ${ADMIN_TOKEN}x`, 'invalid_token'],
    ['that is cut', `Bearer ${ADMIN_TOKEN.slice(0, -1)}`, 'invalid_token'],
  ])('%s is refused, before the body is looked at', async (_what, authorization, error) => {
    const gateway = await startAdminGateway(UP);
    const answer = { status: 401, challenge: 'Bearer', connection: 'close', body: { error } };
    expect(await gateway.tell(GOOD, { headers: { authorization } })).toEqual(answer);
    expect(await gateway.tell('{', { headers: { authorization } })).toEqual(answer);
    const huge = 'x'.repeat(64 * 1024);
    expect(await gateway.tell(huge, { headers: { authorization } })).toEqual(answer);
  });
});

describe('a body', () => {
  test.each<[unknown, string]>([
    ['', 'the body must be a JSON object'],
    ['{"kind":"tools"', 'the body must be a JSON object'],
    [[GOOD], 'the body must be a JSON object'],
    ['null', 'the body must be a JSON object'],
    [{}, 'kind must be tools, resources, prompts or updated'],
    [{ kind: 'tool' }, 'kind must be tools, resources, prompts or updated'],
    [{ kind: ['tools'] }, 'kind must be tools, resources, prompts or updated'],
    [{ kind: 'tools', upstream: 7 }, 'upstream must be the key of an upstream'],
    [{ kind: 'tools', upstream: null }, 'upstream must be the key of an upstream'],
    [{ kind: 'tools', upstream: '' }, 'upstream must be the key of an upstream'],
    [{ kind: 'updated', uri: 7 }, 'uri must be text that is not empty'],
    [{ kind: 'updated', uri: '' }, 'uri must be text that is not empty'],
    [{ kind: 'updated' }, 'uri is required where kind is updated'],
    [{ kind: 'tools', uri: 'a://b' }, 'uri has a meaning only where kind is updated'],
    [{ kind: 'tools', upstreams: ['up'] }, 'only kind, upstream and uri are known'],
  ])('%j is refused with one sentence', async (body, message) => {
    const gateway = await startAdminGateway(UP);
    const expected = { ...refusal(400, 'invalid', { message }), challenge: undefined, connection: 'close' };
    expect(await gateway.tell(body)).toEqual(expected);
  });

  test.each(['other', '__proto__', 'constructor'])(
    'that names the upstream %s, which is not there, is refused',
    async (upstream) => {
      const gateway = await startAdminGateway(UP);
      expect(await gateway.tell({ kind: 'tools', upstream })).toMatchObject(refusal(404, 'unknown_upstream'));
    },
  );

  test('of 16 KiB passes, one byte more is refused', async () => {
    const gateway = await startAdminGateway(UP);
    const sized = (bytes: number) => {
      const rest = JSON.stringify({ kind: 'updated', uri: '' }).length;
      return { kind: 'updated', uri: 'x'.repeat(bytes - rest) };
    };
    expect(await gateway.tell(sized(16 * 1024))).toMatchObject({ status: 202, body: { published: 1 } });
    expect(await gateway.tell(sized(16 * 1024 + 1))).toMatchObject(refusal(413, 'too_large'));
  });
});

/** A gateway, and the audit it has written. */
async function audited() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-admin-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'audit.jsonl');
  const gateway = await startAdminGateway({ ...UP, audit: { sink: { file } } });
  const lines = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return { gateway, lines };
}

const ID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const LINE = { time: expect.stringMatching(/Z$/), event: 'change', request: ID, address: '127.0.0.1' };

test('the audit has a line for each request, published or refused, under the id of the log', async () => {
  const { gateway, lines } = await audited();
  await gateway.tell({ kind: 'updated', upstream: 'up', uri: 'a://b' });
  await gateway.tell({ kind: 'tools' });
  await gateway.tell(GOOD, { headers: { origin: 'https://page.example' } });
  await gateway.tell(GOOD, { headers: { authorization: 'Bearer canary-token' } });
  await gateway.tell({ kind: 'canary' });
  await expect.poll(lines).toEqual([
    { ...LINE, decision: 'allow', kind: 'updated', upstream: 'up', target: 'a://b', published: 1 },
    { ...LINE, decision: 'allow', kind: 'tools', published: 1 },
    { ...LINE, decision: 'deny', reason: 'origin' },
    { ...LINE, decision: 'deny', reason: 'invalid_token' },
    { ...LINE, decision: 'deny', reason: 'invalid' },
  ]);
  const logged = gateway.log.filter(({ event }) => /^change_(published|refused)$/.test(event));
  expect(logged.map(({ fields }) => fields.request)).toEqual(lines().map(({ request }) => request));
  expect(JSON.stringify([lines(), gateway.log])).not.toMatch(/canary|an-admin-token/);
});

test('a flood of refusals is counted, and in few lines', async () => {
  const { gateway, lines } = await audited();
  const asked = Array.from({ length: 200 }, () => gateway.tell(GOOD, { headers: { authorization: undefined } }));
  // What comes over the 64 connections there may be is cut.
  const answered = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled').length;
  const rest = Array.from({ length: 200 - answered });
  for (const _ of rest) await gateway.tell(GOOD, { headers: { authorization: undefined } });
  const counted = async () =>
    sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_admin_requests_total', { outcome: 'no_token' });
  expect(await counted()).toBe(200);
  expect(await gateway.tell(GOOD)).toMatchObject({ status: 202 });
  await gateway.close();
  expect(lines().length).toBeLessThan(150);
});
