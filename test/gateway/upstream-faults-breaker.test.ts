import { expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway } from '../support/gateway.ts';
import { toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { type Asked, offering, scriptedUpstream } from '../support/scripted-upstream.ts';

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'up', version: '1' },
};
const done = (id: number) => ({ jsonrpc: '2.0', id, result: { content: [] } });
const unavailable = (id: number, retryAfterMs: unknown) => ({
  id,
  error: { code: -32603, data: { reason: 'upstream_unavailable', retryable: true, retryAfterMs } },
});

test('an upstream that fails so many openings is left alone for a while, then tried once, and calls go on when that succeeds', async () => {
  const clock = fakeClock();
  let mode: 'works' | 'refuses' | 'waits' = 'works';
  const waiting: Asked[] = [];
  const opens = (asked: Asked) => {
    if (mode === 'works') asked.result(INITIALIZED);
    else if (mode === 'waits') waiting.push(asked);
    else asked.error({ code: -32603, message: 'away' });
  };
  const breaker = { failures: 2, open: '30s', maxOpen: '60s' };
  const { entry, links } = await scriptedUpstream(
    { ...offering('act'), initialize: opens, 'tools/call': ({ result }) => result({ content: [] }) },
    { breaker },
  );
  const gateway = await startGateway({ limits: { pingInterval: '60m' }, mcpServers: { up: entry } }, clock);
  await gateway.ready();
  const [one, two] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  mode = 'refuses';
  expect(await one.ask(toolCall(1, 'up__act'))).toMatchObject(unavailable(1, 0));
  expect(await two.ask(toolCall(1, 'up__act'))).toMatchObject(unavailable(1, expect.any(Number)));
  const before = links.length;
  const refused = JSON.stringify(await one.ask(toolCall(2, 'up__act')));
  const wait = Number(/"retryAfterMs":(\d+)/.exec(refused)?.[1]);
  expect([wait >= 24_000, wait <= 30_000, links.length - before]).toEqual([true, true, 0]);
  clock.advance(wait);
  mode = 'waits';
  one.send(toolCall(3, 'up__act'));
  await expect.poll(() => waiting).toHaveLength(1);
  const during = links.length;
  expect(await two.ask(toolCall(2, 'up__act'))).toMatchObject(unavailable(2, 1000));
  expect(links).toHaveLength(during);
  mode = 'works';
  waiting[0]?.result(INITIALIZED);
  expect(await one.json()).toEqual(done(3));
  expect(await two.ask(toolCall(3, 'up__act'))).toEqual(done(3));
});
