import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { toolCall } from '../support/messages.ts';
import type { RawClient } from '../support/raw-client.ts';
import { type Asked, offering, scriptedUpstream } from '../support/scripted-upstream.ts';
import { refresh, tokenGateway } from '../support/token-gateway.ts';

/** Rules that fail: on the target and a claim, on an argument, on a claim alone. Each for a tool of its own. */
const POLICY = [
  { allow: { tools: ['up/plain'] }, when: 'principal.claims.tools[target.name] == true' },
  { roles: ['user'], allow: { tools: ['**'] } },
  { deny: { tools: ['up/large'] }, when: 'arguments.size > 5' },
  { deny: { tools: ['up/old'] }, when: 'principal.claims.level < 3' },
  { deny: { tools: ['up/hold'] }, when: 'has(principal.claims.holds) && principal.claims.holds < 3' },
];
const CLAIMS = { roles: ['user'], level: 'canary', tools: 'canary' };

interface Line {
  readonly event: string;
  readonly session: string;
  readonly request: string;
  readonly rule?: string;
  readonly effect?: string;
  readonly outcome?: string;
}

/** A gateway with that policy, and what its audit says. */
async function audited() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-policy-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'audit.jsonl');
  const held: Asked[] = [];
  const upstream = await scriptedUpstream({
    ...offering('large', 'mine', 'old', 'plain', 'hold'),
    'tools/call': (asked) => (asked.params.name === 'hold' ? void held.push(asked) : asked.result({ content: [] })),
  });
  const config = { policy: POLICY, mcpServers: { up: upstream.entry }, audit: { sink: { file } } };
  const gateway = await tokenGateway(config);
  /** All before another call of this client, of one event or of all. */
  const lines = async (client: RawClient, wanted?: string): Promise<Line[]> => {
    await client.ask(toolCall('end', 'up__large', { size: 1 }));
    const read = () => readFileSync(file, 'utf8').split('\n').slice(0, -1);
    await expect.poll(() => read().at(-1)).toContain('"request":"end"');
    const all = read().map((line): Line => JSON.parse(line));
    return all.slice(0, -1).filter(({ event }) => event === (wanted ?? event));
  };
  return { ...gateway, held, lines };
}

const failed = (request: string, name: string, rule: string, effect: string) => ({
  event: 'policy',
  time: expect.any(String),
  session: expect.any(String),
  request,
  issuer: 'https://idp.example.com/',
  id: 'alice',
  method: 'tools/call',
  reason: 'rule_failed',
  upstream: 'up',
  target: name,
  rule,
  effect,
});

test('each decided call tells of the rules that failed for it, also where the outcome is remembered; lists do not', async () => {
  const { open, lines, log, metrics } = await audited();
  const [one, two] = [await open(300, CLAIMS), await open(300, CLAIMS)];
  for (const client of [one, two]) {
    await client.ask({ jsonrpc: '2.0', id: 'l', method: 'tools/list' });
    await client.ask(toolCall('large', 'up__large', { size: 'canary' }));
    await client.ask(toolCall('fine', 'up__large', { size: 1 }));
    await client.ask(toolCall('old', 'up__old'));
    await client.ask(toolCall('plain', 'up__plain'));
  }
  const counted = await metrics();
  const told = await lines(two, 'policy');
  const each = [
    failed('large', 'up__large', '2', 'deny'),
    failed('old', 'up__old', '3', 'deny'),
    failed('plain', 'plain', '0', 'allow'),
  ];
  expect(told).toEqual([...each, ...each]);
  expect(new Set(told.map(({ session }) => session)).size).toBe(2);
  const logged = log.filter(({ event }) => event === 'policy_rule_failed').map(({ fields }) => fields);
  expect(logged).toEqual(told.map(({ session, request, rule, effect }) => ({ session, request, rule, effect })));
  expect(JSON.stringify(told)).not.toContain('canary');
  // By arguments at each call, of a claim alone once a session, of a target once for all that are alike.
  expect(counted).toContain('policy_errors_total{effect="deny"} 4');
  expect(counted).toContain('policy_errors_total{effect="allow"} 1');
});

test('a fresh token that changes the grants is a line under its own request, before those of the calls it ends', async () => {
  const { open, token, held, lines, clock } = await audited();
  const client = await open(300, { roles: ['user'] });
  client.send(toolCall('held', 'up__hold'));
  await expect.poll(() => held.length).toBe(1);
  expect(await client.ask(refresh('same', await token(600, { roles: ['user'] })))).toMatchObject({ id: 'same' });
  clock.advance(30_000);
  client.send(refresh('less', await token(600)));
  expect(await client.json()).toMatchObject({ id: 'held', error: { code: -32601 } });
  await client.barrier();
  const told = await lines(client);
  const session = expect.any(String);
  const who = { time: expect.any(String), session, issuer: 'https://idp.example.com/', id: 'alice' };
  const method = 'ws-gateway/refreshToken';
  expect(told.filter(({ event }) => event === 'policy')).toEqual([
    { event: 'policy', ...who, request: 'less', method, reason: 'grants_changed' },
  ]);
  expect(told.map(({ event, outcome }) => outcome ?? event)).toEqual(['auth', 'auth', 'auth', 'policy', 'denied']);
});

test('a call in flight that is decided anew tells of what fails then', async () => {
  const { open, token, held, lines } = await audited();
  const client = await open(300, { roles: ['user'] });
  client.send(toolCall('held', 'up__hold'));
  await expect.poll(() => held.length).toBe(1);
  client.send(refresh('r', await token(600, { roles: ['user'], holds: 'canary' })));
  expect(await client.json()).toMatchObject({ id: 'held', error: { code: -32602 } });
  await client.barrier();
  expect(await lines(client, 'policy')).toMatchObject([
    { request: 'r', reason: 'grants_changed' },
    failed('held', 'hold', '4', 'deny'),
  ]);
});
