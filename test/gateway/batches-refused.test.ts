import { describe, expect, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';

const gateway = fileGateway({ mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) } });

const ping = (id: string | number) => ({ jsonrpc: '2.0', id, method: 'ping' });
const INVALID = errorAnswer(null, -32600, 'Invalid Request');

async function open(protocolVersion = '2025-03-26'): Promise<RawClient> {
  const client = await connectRaw(gateway().url);
  await client.initialize(protocolVersion);
  return client;
}

describe('a batch is refused, and the socket stays open,', () => {
  test.each(['2025-11-25', '2025-06-18', '2024-11-05', '2024-10-07'])('where %s was agreed on', async (version) => {
    const client = await open(version);
    expect(await client.ask([ping(1), ping(2)])).toEqual(INVALID);
    expect(await client.barrier()).toEqual([]);
  });

  test('before initialize, whichever revision that will agree on', async () => {
    const client = await connectRaw(gateway().url);
    expect(await client.ask([ping(1)])).toEqual(INVALID);
    await client.initialize('2025-03-26');
    client.send([ping(1)]);
    expect(await client.json()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  test('on a modern socket', async () => {
    const client = await connectRaw(gateway().url);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
    expect(await client.ask(list)).toMatchObject({ id: 1, result: {} });
    expect(await client.ask([{ ...list, id: 2 }])).toEqual(INVALID);
    expect(await client.ask({ ...list, id: 3 })).toMatchObject({ id: 3, result: {} });
  });

  test.each([
    ['[]', INVALID],
    [' [ ] ', INVALID],
    [JSON.stringify(Array.from({ length: 65 }, (_, id) => ping(id))), INVALID],
    [`[${JSON.stringify(ping(1))},]`, errorAnswer(null, -32700, 'Parse error')],
    [`[${JSON.stringify(ping(1))}`, errorAnswer(null, -32700, 'Parse error')],
    [
      `[${JSON.stringify(ping(1))},${'['.repeat(4001)}${']'.repeat(4001)}]`,
      errorAnswer(null, -32600, 'Invalid Request: nested too deeply'),
    ],
  ])('as a whole when it is none: %.60s', async (frame, error) => {
    const client = await open();
    expect(await client.ask(frame)).toEqual(error);
    expect(await client.barrier()).toEqual([]);
  });
});
