import { expect, onTestFinished, test, vi } from 'vitest';
import { Rates } from '../../../src/session/rates.ts';
import { fileGateway } from '../../support/file-gateway.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { connectRaw, openRaw } from '../../support/raw-client.ts';
import { connectTcp } from '../../support/tcp-client.ts';

const gateway = fileGateway({ listen: { port: 0, tcp: { port: 0 } }, mcpServers: {} });
const failures = () => gateway().log.filter(({ event }) => event === 'session_open_failed');
const connections = async () => sampleValue(parseMetrics(await gateway().metrics()), 'mcp_gateway_connections');

/** From now on no session can be made; returns the end of that. */
function failing(): () => void {
  const broken = vi.spyOn(Rates.prototype, 'hold').mockImplementation(() => {
    throw new Error('no session');
  });
  onTestFinished(() => broken.mockRestore());
  return () => broken.mockRestore();
}

test('a session whose set-up throws closes its socket 1011, and the next socket is served', async () => {
  const before = await openRaw(gateway().url);
  const restore = failing();
  const failed = await connectRaw(gateway().url);
  expect(await failed.closed).toEqual({ code: 1011, reason: 'internal' });
  expect(failures()).toEqual([expect.objectContaining({ fields: { err: new Error('no session') } })]);
  restore();
  const after = await openRaw(gateway().url);
  expect([await before.barrier(), await after.barrier()]).toEqual([[], []]);
  expect(await connections()).toBe(2);
});

test('and so does one over TCP', async () => {
  const restore = failing();
  const failed = await connectTcp(gateway().tcp);
  failed.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
  expect(await failed.rest()).toEqual([]);
  expect(failures()).toHaveLength(2);
  restore();
  const after = await connectTcp(gateway().tcp);
  expect(await after.initialize()).toMatchObject({ id: 'init', result: {} });
});
