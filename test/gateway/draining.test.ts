import { expect, test } from 'vitest';
import { DRAINED, DRAINING_DATA } from '../support/drained.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { upgrade } from '../support/upgrade-request.ts';

const LIMITS = { pingInterval: '60m', firstMessage: '60m' };
const mcpServers = { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) };

test('during the notice the gateway is not ready and all else goes on, new sockets too', async () => {
  const clock = fakeClock();
  const timing = { drain: { notice: '5s' } };
  const gateway = await startGateway({ limits: LIMITS, timing, mcpServers }, clock);
  await gateway.ready();
  const readiness = async () => (await fetch(`${gateway.opsUrl}/readyz`)).status;
  expect(await readiness()).toBe(200);
  const closing = gateway.close();
  expect(await readiness()).toBe(503);
  const late = await openRaw(gateway.url);
  expect(await late.ask(toolCall(1, 'up__echo', { text: 'as usual' }))).toEqual(textAnswer(1, 'as usual'));
  clock.advance(4999);
  expect(await late.ask(toolCall(2, 'up__echo', { text: 'still' }))).toEqual(textAnswer(2, 'still'));
  clock.advance(1);
  expect(await late.closed).toEqual(DRAINED);
  await closing;
});

test('a socket is served as usual until its turn; then it is refused new work, and goes when its calls have ended', async () => {
  const clock = fakeClock();
  const gateway = await startGateway({ limits: LIMITS, mcpServers }, clock);
  await gateway.ready();
  const open = () => openRaw(gateway.url);
  const [first, second, busy] = [await open(), await open(), await open()];
  busy.send(toolCall('wait', 'up__wait'));
  expect(await busy.barrier()).toEqual([]);
  const closing = gateway.close();
  expect(await first.closed).toEqual(DRAINED);
  expect((await upgrade(gateway.url)).status).toBe(503);
  expect(await second.ask(toolCall(1, 'up__echo', { text: 'as usual' }))).toEqual(textAnswer(1, 'as usual'));
  clock.advance(19);
  expect(await second.barrier()).toEqual([]);
  clock.advance(1);
  expect(await second.closed).toEqual(DRAINED);
  expect(await busy.ask(toolCall(2, 'up__echo', { text: 'still' }))).toEqual(textAnswer(2, 'still'));
  clock.advance(20);
  expect(await busy.ask({ jsonrpc: '2.0', id: 3, method: 'tools/list' })).toMatchObject({ id: 3, result: {} });
  expect(await busy.ask(toolCall(4, 'up__echo'))).toEqual(
    errorAnswer(4, -32603, 'The gateway is shutting down', DRAINING_DATA),
  );
  expect(await busy.barrier()).toEqual([]);
  busy.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'wait' } });
  expect(await busy.closed).toEqual(DRAINED);
  const hints = await Promise.all([first, second, busy].map(async ({ closed }) => (await closed).reason));
  expect(new Set(hints).size).toBeGreaterThan(1);
  await closing;
});

test('a modern client is told what it listens to until its turn, then the end of it', async () => {
  const clock = fakeClock();
  const gateway = await startGateway({ limits: LIMITS, mcpServers }, clock);
  await gateway.ready();
  const first = await openRaw(gateway.url);
  const modern = await connectRaw(gateway.url);
  modern.send(modernRequest('l', 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
  await modern.json();
  const closing = gateway.close();
  await first.closed;
  expect(await modern.ask(modernRequest(1, 'tools/list'))).toMatchObject({ id: 1, result: {} });
  clock.advance(20);
  expect(await modern.json()).toMatchObject({ id: 'l', result: { resultType: 'complete' } });
  expect(await modern.closed).toEqual(DRAINED);
  await closing;
});

test('what outlasts the drain is answered before its socket closes, one socket after the other', async () => {
  const clock = fakeClock();
  const timing = { drain: { inFlight: '10s' } };
  const gateway = await startGateway({ limits: LIMITS, timing, mcpServers }, clock);
  await gateway.ready();
  const [first, second] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  for (const client of [first, second]) {
    client.send(toolCall(1, 'up__wait'));
    expect(await client.barrier()).toEqual([]);
  }
  const closing = gateway.close();
  clock.advance(10_000);
  const ended = errorAnswer(1, -32603, 'The gateway is shutting down', DRAINING_DATA);
  expect(await first.json()).toEqual(ended);
  expect(await first.closed).toEqual(DRAINED);
  expect(await second.barrier()).toEqual([]);
  clock.advance(20);
  expect(await second.json()).toEqual(ended);
  expect(await second.closed).toEqual(DRAINED);
  await closing;
});
