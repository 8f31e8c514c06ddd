import { expect } from 'vitest';
import { fileGateway, recordFile } from '../../support/file-gateway.ts';
import { stdioUpstream } from '../../support/gateway.ts';
import { cancellation, errorAnswer, textAnswer, toolCall } from '../../support/messages.ts';
import { parseMetrics, sampleValue } from '../../support/prometheus-text.ts';
import { connectRaw, openRaw } from '../../support/raw-client.ts';
import { verifies } from '../verifies.ts';

const heard = recordFile();
const gateway = fileGateway({
  mcpServers: { up: stdioUpstream('plain.mjs', [heard.path], { isolation: 'shared' }) },
});
const cancelled = () => heard.lines().filter((line) => line.startsWith('cancelled'));
const late = async () =>
  sampleValue(parseMetrics(await gateway().metrics()), 'mcp_gateway_unexpected_answers_total', {
    source: 'upstream',
    kind: 'late',
  }) ?? 0;

verifies('cancel.ignore', 'a cancellation that crosses the answer changes nothing', async () => {
  const client = await openRaw(gateway().url);
  const before = cancelled();
  client.send(toolCall(7, 'up__hold', { key: 'crossing' }));
  await expect.poll(() => heard.lines()).toContain('holding crossing');
  client.send(toolCall(8, 'up__release', { key: 'crossing' }));
  expect(await client.json()).toEqual(textAnswer(7, 'crossing'));
  client.send(cancellation(7));
  expect(await client.json()).toEqual(textAnswer(8, 'released'));
  expect(await client.ask(toolCall(7, 'up__echo', { text: 'anew' }))).toEqual(textAnswer(7, 'anew'));
  expect([await client.barrier(), cancelled()]).toEqual([[], before]);
});

verifies(
  ['cancel.silent', 'cancel.frees', 'relay.late'],
  'an answer that crosses the cancellation is dropped, and is not taken for that of the next call under the id',
  async () => {
    const client = await openRaw(gateway().url);
    const before = await late();
    client.send(toolCall(7, 'up__late'));
    client.send(cancellation(7));
    client.send(toolCall(7, 'up__hold', { key: 'second' }));
    await expect.poll(late).toBe(before + 1);
    expect(await client.barrier()).toEqual([]);
    expect(await client.ask(toolCall(8, 'up__release', { key: 'second' }))).toEqual(textAnswer(7, 'second'));
    expect(await client.json()).toEqual(textAnswer(8, 'released'));
  },
);

verifies(
  ['cancel.close', 'relay.late', 'id.space'],
  'an answer for a socket that has closed reaches nobody, also not one with the same id',
  async () => {
    const [leaver, stayer] = [await openRaw(gateway().url), await openRaw(gateway().url)];
    const before = await late();
    stayer.send(toolCall(7, 'up__hold', { key: 'stays' }));
    leaver.send(toolCall(7, 'up__late'));
    await leaver.barrier();
    await expect.poll(() => heard.lines()).toContain('called late');
    leaver.socket.close();
    await expect.poll(late).toBe(before + 1);
    expect(await stayer.ask(toolCall(8, 'up__release', { key: 'stays' }))).toEqual(textAnswer(7, 'stays'));
    expect(await stayer.json()).toEqual(textAnswer(8, 'released'));
    expect(await stayer.barrier()).toEqual([]);
  },
);

verifies(
  'id.duplicate',
  'whatever the second request under an id in flight is, the first alone is answered',
  async () => {
    const client = await openRaw(gateway().url);
    client.send(toolCall(7, 'up__hold', { key: 'first' }));
    await expect.poll(() => heard.lines()).toContain('holding first');
    const refused = errorAnswer(null, -32600, 'Invalid Request: the id is in flight');
    for (const method of ['ping', 'tools/list', 'tools/call', 'no/such', 'initialize']) {
      expect(await client.ask({ jsonrpc: '2.0', id: 7, method })).toEqual(refused);
    }
    expect(await client.ask({ jsonrpc: '2.0', id: '7', method: 'ping' })).toEqual({
      jsonrpc: '2.0',
      id: '7',
      result: {},
    });
    client.send(toolCall(8, 'up__release', { key: 'first' }));
    expect([await client.json(), await client.json()]).toEqual([textAnswer(7, 'first'), textAnswer(8, 'released')]);
    expect(await client.ask({ jsonrpc: '2.0', id: 7, method: 'ping' })).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
  },
);

verifies(['init.hold', 'cancel.frees'], 'a call sent and cancelled behind `initialize` is never answered', async () => {
  const client = await connectRaw(gateway().url);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  client.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  client.send(toolCall(2, 'up__wait'));
  client.send(cancellation(2));
  client.send('no JSON');
  client.send(toolCall(2, 'up__echo', { text: 'kept' }));
  expect([await client.json(), await client.json(), await client.json()]).toMatchObject([
    { id: 1, result: { protocolVersion: '2025-11-25' } },
    errorAnswer(null, -32700, 'Parse error'),
    textAnswer(2, 'kept'),
  ]);
  expect(await client.barrier()).toEqual([]);
});
