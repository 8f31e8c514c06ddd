import { describe, expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';
import { openRaw } from '../support/raw-client.ts';

const heard = recordFile();
const gateway = fileGateway({
  mcpServers: { up: stdioUpstream('fixture.mjs', [heard.path], { isolation: 'shared' }) },
});
const hold = (id: string | number, key: string) => toolCall(id, 'up__hold', { key });
const release = (id: string | number, key: string) => toolCall(id, 'up__release', { key });
const isHeld = (key: string) => expect.poll(() => heard.lines()).toContain(`holding ${key}`);

describe('equal ids on one shared upstream', () => {
  test('two clients get one answer each: their own, whoever is slow', async () => {
    const slow = await openRaw(gateway().url);
    const fast = await openRaw(gateway().url);
    slow.send(hold(1, 'slow'));
    slow.send(hold('1', 'slow text'));
    await isHeld('slow text');
    expect(await fast.ask(toolCall(1, 'up__echo', { text: 'fast' }))).toEqual(textAnswer(1, 'fast'));
    expect(await fast.ask(toolCall('1', 'up__echo', { text: 'fast text' }))).toEqual(textAnswer('1', 'fast text'));
    expect(await slow.barrier()).toEqual([]);
    expect(await fast.ask(release(2, 'slow text'))).toEqual(textAnswer(2, 'released'));
    expect(await slow.json()).toEqual(textAnswer('1', 'slow text'));
    expect(await fast.ask(release(1, 'slow'))).toEqual(textAnswer(1, 'released'));
    expect(await slow.json()).toEqual(textAnswer(1, 'slow'));
    expect([await slow.barrier(), await fast.barrier()]).toEqual([[], []]);
  });

  test('a second call under an id in flight is refused and the first still finishes', async () => {
    const client = await openRaw(gateway().url);
    client.send(hold(7, 'first'));
    await isHeld('first');
    expect(await client.ask(toolCall(7, 'up__echo', { text: 'second' }))).toEqual(
      errorAnswer(null, -32600, 'Invalid Request: the id is in flight'),
    );
    expect(await client.ask({ jsonrpc: '2.0', id: 7, method: 'ping' })).toEqual(
      errorAnswer(null, -32600, 'Invalid Request: the id is in flight'),
    );
    client.send(release(8, 'first'));
    expect([await client.json(), await client.json()]).toEqual(
      expect.arrayContaining([textAnswer(7, 'first'), textAnswer(8, 'released')]),
    );
    expect(await client.ask(toolCall(7, 'up__echo', { text: 'again' }))).toEqual(textAnswer(7, 'again'));
  });
});

describe('an id', () => {
  test.each([0, '', -7, 9007199254740991, -9007199254740991, 'g1', '__proto__', 'ü"\\\u2028', 'x'.repeat(1024)])(
    'comes back as it was sent: %j',
    async (id) => {
      const client = await openRaw(gateway().url);
      expect(await client.ask(toolCall(id, 'up__echo', { text: 'x' }))).toEqual(textAnswer(id, 'x'));
      expect(await client.ask({ jsonrpc: '2.0', id, method: 'ping' })).toEqual({ jsonrpc: '2.0', id, result: {} });
    },
  );

  test.each(['null', '1.5', '9007199254740992', 'true', '{}', '[1]', `"${'x'.repeat(1025)}"`])(
    'is refused, and the socket stays: %s',
    async (id) => {
      const client = await openRaw(gateway().url);
      expect(await client.ask(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toEqual(
        errorAnswer(null, -32600, 'Invalid Request'),
      );
      expect(await client.barrier()).toEqual([]);
    },
  );
});

test('answers of a client to nothing it was asked are ignored and counted', async () => {
  const client = await openRaw(gateway().url);
  client.send({ jsonrpc: '2.0', id: 1, result: {} });
  client.send({ jsonrpc: '2.0', id: 'g1', error: { code: 1, message: 'no' } });
  expect(await client.barrier()).toEqual([]);
  const labels = { source: 'client', kind: 'unknown' };
  const counted = parseMetrics(await gateway().metrics());
  expect(sampleValue(counted, 'mcp_gateway_unexpected_answers_total', labels)).toBe(2);
});
