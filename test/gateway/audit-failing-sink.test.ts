import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw } from '../support/raw-client.ts';
import { type Asked, offering, scriptedUpstream } from '../support/scripted-upstream.ts';

/** A line of each is a little over this many characters, so that some thousands fill what may wait. */
const KEY = 'k'.repeat(128);
const GIVEN = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`${n}`.padEnd(128, KEY), 0]));
const CALLS = 1000;

async function auditingTo(file: string): Promise<TestGateway> {
  const { entry } = await scriptedUpstream({
    ...offering('act'),
    'tools/call': ({ result }: Asked) => result({ content: [{ type: 'text', text: 'acted' }] }),
  });
  const limits = { requestsPerSecond: null };
  const gateway = await startGateway({ mcpServers: { up: entry }, limits, audit: { sink: { file } } });
  await gateway.ready();
  return gateway;
}

/** Calls one after the other; fails where one is not answered, or not so. */
async function callOften({ url }: TestGateway): Promise<void> {
  const client = await openRaw(url);
  for (let n = 0; n < CALLS; n += 1) {
    expect(await client.ask(toolCall(n, 'up__act', GIVEN))).toEqual(textAnswer(n, 'acted'));
  }
}

const events = ({ log }: TestGateway) =>
  log.map(({ level, event }) => `${event} ${level}`).filter((line) => line.startsWith('audit_'));

const dropped = async (gateway: TestGateway) =>
  sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_audit_dropped_total') ?? 0;

test('a full device holds up no call; what is lost is counted and told', async () => {
  const gateway = await auditingTo('/dev/full');
  await callOften(gateway);
  expect(await dropped(gateway)).toBeGreaterThan(CALLS / 4);
  expect(await dropped(gateway)).toBeLessThan(CALLS);
  expect(events(gateway)).toEqual(['audit_failing error', 'audit_dropping error']);
  await gateway.close();
  expect(events(gateway)).toContain('audit_lost_at_close warn');
});

test('nor does a pipe that nobody reads', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-audit-pipe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, 'audit');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(reader));
  const gateway = await auditingTo(pipe);
  await callOften(gateway);
  expect(await dropped(gateway)).toBeGreaterThan(CALLS / 4);
  expect(events(gateway)).toEqual(['audit_dropping error']);
});
