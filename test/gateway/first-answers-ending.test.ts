import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Client } from '../../src/session/client.ts';
import { DRAINED, DRAINING_DATA } from '../support/drained.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { connectRaw, type RawClientOptions } from '../support/raw-client.ts';
import { makeIssuer } from '../support/tokens.ts';

/** Sessions wait 3 s for its first answer. */
const SILENT = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
const LISTEN = { notifications: { toolsListChanged: true } };

async function silentGateway(more: object = {}) {
  const clock = fakeClock();
  const config = { limits: { pingInterval: '60m' }, mcpServers: { up: SILENT }, ...more };
  return { clock, gateway: await startGateway(config, clock) };
}

/** A client whose requests were all read, unless the first of them made the gateway pause. */
async function waiting(gateway: TestGateway, requests: readonly object[], options: RawClientOptions = {}) {
  const client = await connectRaw(gateway.url, options);
  for (const request of requests) client.send(request);
  const read = async () =>
    sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_messages_total', { direction: 'in' }) ?? 0;
  await expect.poll(read).toBeGreaterThan(0);
  return client;
}

describe('the first modern request, while it waits for first answers', () => {
  test.each([
    ['tools/list', {}, { id: 1, result: { tools: [] } }],
    ['server/discover', {}, { id: 1, result: { supportedVersions: ['2026-07-28'] } }],
    ['tools/call', { name: 'up__gone' }, { id: 1, error: { code: -32602 } }],
    ['subscriptions/listen', LISTEN, { id: 1, error: { data: { reason: 'draining' } } }],
  ])('%s is answered before a drain closes the socket', async (method, params, answer) => {
    const { clock, gateway } = await silentGateway();
    const client = await waiting(gateway, [modernRequest(1, method, params)]);
    const closing = gateway.close();
    clock.advance(3001);
    expect(await client.json()).toMatchObject(answer);
    expect(await client.closed).toEqual(DRAINED);
    await closing;
  });

  test('ends in `draining` when the time to drain is over', async () => {
    const { clock, gateway } = await silentGateway({ timing: { drain: { inFlight: '1s' } } });
    const client = await waiting(gateway, [modernRequest(1, 'server/discover')]);
    const closing = gateway.close();
    clock.advance(1001);
    expect(await client.json()).toEqual(errorAnswer(1, -32603, 'The gateway is shutting down', DRAINING_DATA));
    expect(await client.closed).toEqual(DRAINED);
    await closing;
  });

  test('is answered before the end of its token closes the socket', async () => {
    const issuer = await makeIssuer();
    const { clock, gateway } = await silentGateway({
      auth: {
        mode: 'jwt',
        resource: issuer.audience,
        clockTolerance: '0s',
        issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
      },
      policy: 'allow-authenticated',
    });
    const token = await issuer.sign({ exp: clock.now() / 1000 + 1 }, { now: clock.now() });
    const options = { headers: { authorization: `Bearer ${token}` } };
    const client = await waiting(gateway, [modernRequest(1, 'server/discover')], options);
    clock.advance(1001);
    clock.advance(2000);
    expect(await client.json()).toMatchObject({ id: 1, result: {} });
    expect(await client.closed).toEqual({ code: 4401, reason: 'unauthenticated' });
  });
});

test('a modern session that cannot be opened is logged, and its socket closed', async () => {
  const gateway = await startGateway({ mcpServers: {} });
  const broken = vi.spyOn(Client.prototype, 'openModern').mockImplementation(() => {
    throw new Error('no plane');
  });
  onTestFinished(() => broken.mockRestore());
  const client = await connectRaw(gateway.url);
  client.send(modernRequest(1, 'tools/list'));
  expect(await client.closed).toEqual({ code: 1011, reason: 'internal' });
  expect(gateway.log).toContainEqual(
    expect.objectContaining({
      level: 'error',
      event: 'session_open_failed',
      fields: expect.objectContaining({ err: new Error('no plane') }),
    }),
  );
});
