import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/observe/clock.ts';
import type { Response } from '../../src/protocol/envelope.ts';
import { readMessage } from '../../src/protocol/envelope.ts';
import { openLink } from '../../src/upstream/link.ts';
import { dialStreamableHttp } from '../../src/upstream/streamable-http.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';
import { statelessUpstream } from '../support/stateless-upstream.ts';

const MIB = 1024 * 1024;
const COUNT = 20;

test('calls of one moment over HTTP are none too many for waiting for their connections', async () => {
  const upstream = await statelessUpstream({ 'tools/call': ({ result }) => result({ content: [] }) });
  const shared = { clock: systemClock(), log: recordedLog(), meter: recordedMeter(), upstream: 'up' };
  const dial = dialStreamableHttp({ url: String(upstream.entry.url), headers: {}, maxMessage: MIB }, shared);
  const options = {
    upstream: 'up',
    isolation: 'shared',
    capabilities: {},
    hearsLists: false,
    startTimeout: 10_000,
    call: { idle: 60_000, hard: 60_000 },
    concurrency: 100,
    maxDepth: 10,
    maxBacklog: 16 * MIB,
  } as const;
  const events = { listChanged() {}, updated() {}, logged() {}, closed() {} };
  const opening = { era: 'modern', within: 10_000, over: 'late', signal: undefined } as const;
  const link = await openLink(options, { ...shared, dial, random: Math.random, distrust() {} }, events, opening);
  onTestFinished(() => link.close());
  const params = { name: 'act', arguments: { filling: 'x'.repeat(MIB) } };
  const message = readMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }), 10);
  if (message.kind !== 'request') throw new Error('no request');
  const ended: string[] = [];
  const reply = {
    answered: ({ outcome }: Response) => void ended.push(outcome),
    failed: ({ reason }: { readonly reason: string }) => void ended.push(reason),
    progress() {},
  };
  for (let n = 0; n < COUNT; n += 1) link.relay({ message }, reply);
  expect(link.backlog).toBeGreaterThan(COUNT * MIB);
  await expect.poll(() => ended, { timeout: 20_000 }).toEqual(Array(COUNT).fill('result'));
  expect(link.backlog).toBe(0);
}, 60_000);
